import { Failure } from '#failure/failure.ts'
import type { Published } from '#store/port.ts'
import { unfinishedRepair } from '#store/repair-failures.ts'
import { sendBulk } from '../client/bulk.ts'
import { type BulkItem, versionedItem } from '../client/bulk-item.ts'
import { forceVersion } from '../client/force-version.ts'
import { refresh } from '../client/refresh.ts'
import { publishedDoc, readPublished } from '../schema/checkpoint.ts'
import type { Checkpoint, PublishedMeta } from '../schema/checkpoint-record.ts'
import { stampOf } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import type { Names } from '../schema/names.ts'
import { inOrder } from './in-order.ts'
import { applyItems, type Entry, readJournal } from './journal.ts'
import { removeHistoryAbove, removeJournalsBut } from './remove-leftovers.ts'

/**
 * Restores the store to its checkpoint, whatever a dead loader left: applies and publishes the committed
 * batch, removes history above it and all other journals. May be repeated; the caller has the lease.
 */
export const recover = async (
  cluster: Cluster,
  checkpoint: Checkpoint,
  confirm: () => Promise<void> = async () => {},
): Promise<void> => {
  const published = await readPublished(cluster)
  requireSameEnd(cluster, checkpoint, published)
  await finish(cluster, checkpoint, { published, confirm })
}

/** Like `recover`, without comparing the published end. */
export const finish = async (
  cluster: Cluster,
  checkpoint: Checkpoint,
  {
    published,
    confirm = async () => {},
  }: { readonly published: Pick<PublishedMeta, 'batch'> | undefined; readonly confirm?: () => Promise<void> },
): Promise<void> => {
  const { names } = cluster
  // The end is unknown, so no history can be identified as above it.
  if (checkpoint.mending && checkpoint.batch === '') throw unfinishedRepair(names.prefix)
  if (checkpoint.end !== undefined && published?.batch !== checkpoint.batch) {
    const entries = await readJournal(cluster, checkpoint.batch, checkpoint.parts)
    await apply(cluster, checkpoint, { entries, indices: names.states, confirm })
    // If the published record was deleted by hand a moment ago, its deletion has a conflicting version.
    const [item, version] = publication(names, { ...checkpoint, end: checkpoint.end })
    await forceVersion(cluster, [item], version)
  }
  await removeHistoryAbove(cluster, checkpoint)
  await removeJournalsBut(cluster, checkpoint)
}

/** Throws when the two records of a batch disagree: one was changed, and using the wrong one would do harm. */
const requireSameEnd = (
  { connection, names }: Cluster,
  { batch, end }: Checkpoint,
  published: PublishedMeta | undefined,
): void => {
  if (published?.batch !== batch || end === undefined) return
  const { height, hash, time } = published.end
  if (height === end.height && hash === end.hash && time === end.time) return
  throw new Failure(
    'damaged',
    `Checkpoint and published height in ${names.meta} at ${connection.url} differ: ${end.height} ${end.hash}, ${height} ${hash}.`,
    { help: "One of them was changed by another program. Run: 'iostlens repair --node URL'." },
  )
}

/**
 * Writes the state of the committed batch, refreshes `indices` (absent: the written ones), and publishes the
 * height unless `confirm` throws.
 */
export const apply = async (
  cluster: Cluster,
  checkpoint: Checkpoint,
  {
    entries,
    indices,
    confirm,
  }: {
    readonly entries: readonly Entry[]
    readonly indices?: readonly string[]
    readonly confirm: () => Promise<void>
  },
): Promise<void> => {
  const { names } = cluster
  const { end, lift } = checkpoint
  if (end === undefined) return
  const { first, last } = inOrder(applyItems(names, entries, stampOf({ end, lift })))
  const { searchable } = await sendBulk(cluster, first, { searchable: indices === undefined })
  const left = last()
  await sendBulk(cluster, left)
  const written = new Set(entries.map(({ index }) => names.state(index)))
  if (!searchable || left.length > 0) await refresh(cluster, indices ?? [...written])
  await confirm()
  await publish(cluster, { ...checkpoint, end })
}

/** Publishes a checkpoint to readers. */
export const publish = async (
  cluster: Cluster,
  checkpoint: Checkpoint & { readonly end: Published },
): Promise<void> => {
  const { names } = cluster
  const [item] = publication(names, checkpoint)
  await sendBulk(cluster, [item])
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
  return [versionedItem({ index: names.meta, id }, version, source), version]
}
