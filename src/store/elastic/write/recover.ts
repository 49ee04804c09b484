import { Failure } from '#failure/failure.ts'
import { stateIndices } from '#indices/registry.ts'
import { unfinishedRepair } from '#store/mending.ts'
import type { Published } from '#store/port.ts'
import { sendBulk } from '../client/bulk.ts'
import { type BulkItem, versionedItem } from '../client/bulk-item.ts'
import { forceVersion } from '../client/force-version.ts'
import { refresh } from '../client/refresh.ts'
import {
  type Checkpoint,
  type PublishedMeta,
  publishedDoc,
  readPublished,
  stampOf,
} from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/cluster.ts'
import type { Names } from '../schema/names.ts'
import { applyItems, type Entry, readJournal } from './journal.ts'
import { removeHistoryAbove, removeJournalsBut } from './remove-leftovers.ts'

/**
 * Brings the store from whatever a dead loader left to its checkpoint: the committed batch applied and published, no
 * history above it, no journal but its own. May be repeated; the caller holds the checkpoint.
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

/** As `recover`, whatever is published says. */
export const finish = async (
  cluster: Cluster,
  checkpoint: Checkpoint,
  {
    published,
    confirm = async () => {},
  }: {
    readonly published: Pick<PublishedMeta, 'batch'> | undefined
    readonly confirm?: () => Promise<void>
  },
): Promise<void> => {
  const { names } = cluster
  // Nothing is known of where it ended: no block is above that.
  if (checkpoint.mending && checkpoint.batch === '') throw unfinishedRepair(names.prefix)
  if (checkpoint.end !== undefined && published?.batch !== checkpoint.batch) {
    const entries = await readJournal(cluster, checkpoint.batch, checkpoint.parts)
    const indices = stateIndices.map(index => names.state(index))
    await apply(cluster, checkpoint, { entries, indices, confirm })
    // One that was deleted by hand a moment ago has left a version that stands in the way of its own.
    const [item, version] = publication(names, { ...checkpoint, end: checkpoint.end })
    await forceVersion(cluster, [item], version)
  }
  await removeHistoryAbove(cluster, checkpoint)
  await removeJournalsBut(cluster, checkpoint)
}

/** Two words on the end of one batch: one of them was changed, and whoever believed the wrong one would do harm. */
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
    { help: 'One of them was changed by another program. Run: iostlens repair --node URL.' },
  )
}

/**
 * Writes the state of the committed batch, makes it searchable in `indices`, then publishes its height, unless `confirm`
 * throws.
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
    readonly indices: readonly string[]
    readonly confirm: () => Promise<void>
  },
): Promise<void> => {
  const { names } = cluster
  const { end, lift } = checkpoint
  if (end === undefined) return
  await sendBulk(cluster, applyItems(names, entries, stampOf({ end, lift })))
  await refresh(cluster, indices)
  await confirm()
  await publish(cluster, { ...checkpoint, end })
}

/** Tells readers of a checkpoint. */
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
