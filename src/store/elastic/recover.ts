import { stateIndices } from '#indices/registry.ts'
import { type Bulk, sendBulk } from './bulk.ts'
import { versionedItem } from './bulk-item.ts'
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
  }
  await removeHistoryAbove(bulk, names, checkpoint)
  await removeJournalsBut(bulk, names, checkpoint.batch)
}

/** Writes the state of the committed batch, makes it searchable in `indices`, then publishes its height. */
export const apply = async (
  bulk: Bulk,
  names: Names,
  { end, batch, partitions, generations }: Checkpoint,
  entries: readonly Entry[],
  indices: readonly string[],
): Promise<void> => {
  if (end === undefined) return
  await sendBulk(bulk, applyItems(names, entries, end.height))
  await refresh(bulk, indices)
  const { id, version, source } = publishedDoc({ end, batch, partitions, generations })
  await sendBulk(bulk, [versionedItem(names.meta, id, version, source)])
}
