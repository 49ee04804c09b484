import { stateIndices } from '#indices/registry.ts'
import type { Published } from '#store/port.ts'
import { type Bulk, sendBulk } from './bulk.ts'
import { type BulkItem, versionedItem } from './bulk-item.ts'
import { insist } from './insist.ts'
import { applyItems, type Entry, readJournal } from './journal.ts'
import { removeHistoryAbove, removeJournalsBut } from './leftovers.ts'
import { type Checkpoint, publishedDoc, readPublished } from './meta.ts'
import type { Names } from './names.ts'
import { refresh } from './refresh.ts'

/**
 * Brings the store from whatever a dead loader left to its checkpoint: the committed batch applied and published, no
 * history above it, no journal but its own. May be repeated; the caller holds the checkpoint.
 */
export const recover = async (bulk: Bulk, names: Names, checkpoint: Checkpoint): Promise<void> => {
  const published = await readPublished(bulk.connection, names)
  if (checkpoint.end !== undefined && published?.batch !== checkpoint.batch) {
    const entries = await readJournal(bulk.connection, names, checkpoint.batch, checkpoint.parts)
    const indices = stateIndices.map(index => names.state(index))
    await apply(bulk, names, checkpoint, entries, indices)
    // One that was deleted by hand a moment ago has left a version that stands in the way of its own.
    const [item, version] = publication(names, { ...checkpoint, end: checkpoint.end })
    await insist(bulk, [item], version)
  }
  await removeHistoryAbove(bulk, names, checkpoint)
  await removeJournalsBut(bulk, names, checkpoint.batch)
}

/** Writes the state of the committed batch, makes it searchable in `indices`, then publishes its height. */
export const apply = async (
  bulk: Bulk,
  names: Names,
  checkpoint: Checkpoint,
  entries: readonly Entry[],
  indices: readonly string[],
): Promise<void> => {
  const { end } = checkpoint
  if (end === undefined) return
  await sendBulk(bulk, applyItems(names, entries, end.height))
  await refresh(bulk, indices)
  const [item] = publication(names, { ...checkpoint, end })
  await sendBulk(bulk, [item])
}

/** The write that publishes a checkpoint, and its version. */
const publication = (
  names: Names,
  { end, batch, partitions, generations }: Checkpoint & { readonly end: Published },
): readonly [BulkItem, number] => {
  const { id, version, source } = publishedDoc({ end, batch, partitions, generations })
  return [versionedItem(names.meta, id, version, source), version]
}
