import { Failure } from '#failure/failure.ts'
import { stateIndices } from '#indices/registry.ts'
import { unfinishedRepair } from '#store/mending.ts'
import type { Published } from '#store/port.ts'
import { type Bulk, sendBulk } from '../client/bulk.ts'
import { type BulkItem, versionedItem } from '../client/bulk-item.ts'
import { insist } from '../client/insist.ts'
import { refresh } from '../client/refresh.ts'
import {
  type Checkpoint,
  type PublishedMeta,
  publishedDoc,
  readPublished,
  stampOf,
} from '../schema/checkpoint.ts'
import type { Names } from '../schema/names.ts'
import { applyItems, type Entry, readJournal } from './journal.ts'
import { removeHistoryAbove, removeJournalsBut } from './leftovers.ts'

/**
 * Brings the store from whatever a dead loader left to its checkpoint: the committed batch applied and published, no
 * history above it, no journal but its own. May be repeated; the caller holds the checkpoint.
 */
export const recover = async (
  bulk: Bulk,
  names: Names,
  checkpoint: Checkpoint,
  confirm: () => Promise<void> = async () => {},
): Promise<void> => {
  const published = await readPublished(bulk.connection, names)
  requireSameEnd(bulk, names, checkpoint, published)
  await finish(bulk, names, checkpoint, published, confirm)
}

/** As `recover`, whatever is published says. */
export const finish = async (
  bulk: Bulk,
  names: Names,
  checkpoint: Checkpoint,
  published: Pick<PublishedMeta, 'batch'> | undefined,
  confirm: () => Promise<void> = async () => {},
): Promise<void> => {
  // Nothing is known of where it ended: no block is above that.
  if (checkpoint.mending && checkpoint.batch === '') throw unfinishedRepair(names.prefix)
  if (checkpoint.end !== undefined && published?.batch !== checkpoint.batch) {
    const entries = await readJournal(bulk.connection, names, checkpoint.batch, checkpoint.parts)
    const indices = stateIndices.map(index => names.state(index))
    await apply(bulk, names, checkpoint, entries, indices, confirm)
    // One that was deleted by hand a moment ago has left a version that stands in the way of its own.
    const [item, version] = publication(names, { ...checkpoint, end: checkpoint.end })
    await insist(bulk, [item], version)
  }
  await removeHistoryAbove(bulk, names, checkpoint)
  await removeJournalsBut(bulk, names, checkpoint)
}

/** Two words on the end of one batch: one of them was changed, and whoever believed the wrong one would do harm. */
const requireSameEnd = (
  { connection }: Bulk,
  names: Names,
  { batch, end }: Checkpoint,
  published: PublishedMeta | undefined,
): void => {
  if (published?.batch !== batch || end === undefined) return
  const { height, hash, time } = published.end
  if (height === end.height && hash === end.hash && time === end.time) return
  throw new Failure(
    'damaged',
    `Checkpoint and published height in ${names.meta} at ${connection.url} differ: ${end.height} ${end.hash}, ${height} ${hash}.`,
    { help: 'One of them was changed by another program. Run: iostlens repair --node URL.' },
  )
}

/**
 * Writes the state of the committed batch, makes it searchable in `indices`, then publishes its height, unless `confirm`
 * throws.
 */
export const apply = async (
  bulk: Bulk,
  names: Names,
  checkpoint: Checkpoint,
  entries: readonly Entry[],
  indices: readonly string[],
  confirm: () => Promise<void>,
): Promise<void> => {
  const { end, lift } = checkpoint
  if (end === undefined) return
  await sendBulk(bulk, applyItems(names, entries, stampOf({ end, lift })))
  await refresh(bulk, indices)
  await confirm()
  await publish(bulk, names, { ...checkpoint, end })
}

/** Tells readers of a checkpoint. */
export const publish = async (
  bulk: Bulk,
  names: Names,
  checkpoint: Checkpoint & { readonly end: Published },
): Promise<void> => {
  const [item] = publication(names, checkpoint)
  await sendBulk(bulk, [item])
}

/** The write that publishes a checkpoint, and its version. */
export const publication = (
  names: Names,
  { end, batch, partitions, generations, lift, mending, inventory }: Checkpoint & { readonly end: Published },
): readonly [BulkItem, number] => {
  const { id, version, source } = publishedDoc({
    end,
    batch,
    partitions,
    generations,
    lift,
    mending,
    inventory,
  })
  return [versionedItem(names.meta, id, version, source), version]
}
