import { Failure } from '#failure/failure.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import type { Filling, Published } from '#store/port.ts'
import { unfinishedRepair } from '#store/repair-failures.ts'
import type { StateDocument, StateFile } from '#store/state-port.ts'
import { sendBulk } from '../client/bulk.ts'
import { versionedItem } from '../client/bulk-item.ts'
import { getMany } from '../client/get-many.ts'
import { refresh } from '../client/refresh.ts'
import { restoreHelp } from '../schema/checkpoint.ts'
import type { Checkpoint, Holding, Inventory, PublishedMeta } from '../schema/checkpoint-record.ts'
import { lastDocuments, stampOf } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import type { Names } from '../schema/names.ts'
import { FIRST_PARTITION, type Partitions } from '../schema/partitions.ts'
import type { Lease } from './keep-lease.ts'
import { forcePublish, publish } from './publish.ts'
import { removeHistoryAbove } from './remove-leftovers.ts'
import { resendState, stampOfPublished } from './send-state.ts'

type Parts = {
  readonly lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>
  readonly file: Pick<StateFile, 'mark' | 'unsent' | 'sent'>
  /** Throws unless the store has everything that is to be published. */
  readonly confirm: () => Promise<void>
}

/**
 * Ends the batch that a dead loader had announced. If this loader's file has it, its state is sent again and published.
 * Otherwise the batch is abandoned: the store is continued from its published height. In either case history above the
 * announced batch is removed, which belongs to none. May be repeated.
 */
export async function finishBatch(parts: Parts, published: PublishedMeta | undefined): Promise<void> {
  const { lease } = parts
  const { cluster } = lease
  const checkpoint = lease.checkpoint()
  const { end } = checkpoint
  requireSameEnd(cluster, checkpoint, published)
  // The end is unknown, so no history can be identified as above it.
  if (checkpoint.mending && checkpoint.batch === '') throw unfinishedRepair(cluster.names.prefix)
  if (end !== undefined && published?.batch !== checkpoint.batch) {
    const isNext = published === undefined || stampOf(published) < stampOf({ ...checkpoint, end })
    const documents = isNext ? await toResend(cluster, checkpoint, parts.file) : undefined
    if (documents === undefined) await abandonBatch(lease, published)
    else await resend({ ...checkpoint, end }, documents, { ...parts, published })
  }
  await removeHistoryAbove(cluster, lease.checkpoint())
}

/**
 * Documents of state that the store may lack of its announced batch: those of this loader's file; none if a repair stored
 * them before the checkpoint, or if the store has the last ones, which are sent after the others. undefined: unknown.
 */
async function toResend(
  cluster: Cluster,
  checkpoint: Checkpoint,
  file: Pick<StateFile, 'mark' | 'unsent'>,
): Promise<readonly StateDocument[] | undefined> {
  const { from, batch, state } = checkpoint
  if (from === undefined) return []
  if (file.mark?.batch === batch && file.mark.store === state) return file.unsent() ?? []
  return (await acknowledgeLast(cluster, checkpoint)) ? [] : undefined
}

/**
 * Writes the last document of each index of state again, as it is. False: one is missing, so the state of the batch is
 * incomplete. An acknowledged write proves that all copies have those before it (`in-order.ts`).
 */
async function acknowledgeLast(cluster: Cluster, checkpoint: Checkpoint): Promise<boolean> {
  const { names } = cluster
  const last = lastDocuments(checkpoint)
  const aliases = new Map(stateIndices.map(index => [names.state(index), names.into(index)]))
  const refs = [...aliases].flatMap(([index, alias]) => {
    const [id, version] = last[index] ?? []
    return id === undefined || version === undefined ? [] : [{ index: alias, id, version }]
  })
  const stored = await getMany(cluster.connection, refs, { realtime: true })
  const items = stored.flatMap((got, at) => {
    const ref = refs[at]
    if (got === undefined || ref === undefined || got.version < ref.version) return []
    return [versionedItem(ref, got.version, JSON.stringify(got.source))]
  })
  if (refs.length === 0 || items.length < refs.length) return false
  await sendBulk(cluster, items)
  return true
}

async function resend(
  checkpoint: Checkpoint & { readonly end: Published },
  documents: readonly StateDocument[],
  { lease: { cluster }, file, confirm, published }: Parts & { readonly published: PublishedMeta | undefined },
): Promise<void> {
  await resendState(cluster, documents, { stamp: stampOf(checkpoint), published: stampOfPublished(published) })
  await refresh(cluster, cluster.names.states)
  await confirm()
  // If the published record was deleted by hand a moment ago, its deletion has a conflicting version.
  if (published === undefined) await forcePublish(cluster, checkpoint)
  else await publish(cluster, checkpoint)
  if (documents.length > 0) await file.sent()
}

/**
 * Continues from what is published. Documents of the abandoned batch stay: its history is the same when it is written
 * again, and a document of its state names the one before it. The next batch does not end below it, and writes every
 * document that any of its blocks has written, also one that has its former content again. So it replaces all of them.
 */
async function abandonBatch(
  { cluster, checkpoint, set }: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>,
  published: PublishedMeta | undefined,
): Promise<void> {
  const { end, filling, floor, from, inventory } = checkpoint()
  if (published === undefined && from !== '') throw publishedLost(cluster)
  const next = published === undefined ? emptyContent(inventory) : publishedContent(cluster.names, published)
  const announced = end && { height: end.height, partition: filling.partition }
  const least = announced && floor && floor.height > announced.height ? floor : announced
  const isAbove = least !== undefined && least.height > (published?.end.height ?? -1)
  await set({ ...next, floor: isAbove ? least : undefined })
}

function publishedContent(names: Names, published: PublishedMeta) {
  const { end, batch, partitions, epoch, inventory } = published
  return {
    end,
    batch,
    from: undefined,
    partitions,
    epoch,
    inventory,
    filling: countFilling(names, partitions, inventory),
  }
}

/** Fill level of the last partition, by the inventory. */
function countFilling(names: Names, partitions: Partitions, inventory: Inventory | undefined): Filling {
  const partition = partitions.length - 1
  const counts = historyIndices.map(index => inventory?.indices[names.partition(index, partition)]?.[1] ?? 0)
  return { partition, documents: counts.reduce((sum, count) => sum + count, 0) }
}

/** What a store is before its first batch, with the indices that it was created with. */
function emptyContent(inventory: Inventory | undefined) {
  const counted = Object.entries(inventory?.indices ?? {}).map(
    ([name, [uuid, documents]]): readonly [string, Holding] => [name, documents === undefined ? [uuid] : [uuid, 0]],
  )
  const empty = inventory && { batch: '', indices: Object.fromEntries(counted), last: {} }
  return {
    end: undefined,
    batch: '',
    from: undefined,
    partitions: FIRST_PARTITION,
    filling: NOTHING_FILLED,
    inventory: empty,
  }
}

function publishedLost({ connection: { url }, names }: Cluster): Failure {
  return new Failure('damaged', `The record of what is published in ${names.meta} at ${url} is gone.`, {
    help: restoreHelp(names),
  })
}

/** Throws when the two records of a batch disagree: one was changed, and using the wrong one would do harm. */
function requireSameEnd(
  { connection, names }: Cluster,
  { batch, end }: Checkpoint,
  published: PublishedMeta | undefined,
): void {
  if (published?.batch !== batch || end === undefined) return
  const { height, hash, time } = published.end
  if (height === end.height && hash === end.hash && time === end.time) return
  throw new Failure(
    'damaged',
    `Checkpoint and published height in ${names.meta} at ${connection.url} differ: ${end.height} ${end.hash}, ${height} ${hash}.`,
    { help: "One of them was changed by another program. Run: 'iostlens repair --node URL'." },
  )
}
