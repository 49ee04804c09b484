import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import { missingData, RUN_REPAIR, unfinishedRepair } from '#store/failures.ts'
import type { Published } from '#store/port.ts'
import type { StateDocument, StateFile } from '#store/state-port.ts'
import { sendBulk, toVersionedItem } from '../client/bulk.ts'
import { getMany } from '../client/read-documents.ts'
import { refresh } from '../client/sender.ts'
import { openAudit } from '../read/audit.ts'
import {
  type Checkpoint,
  formatRestoreHelp,
  getInventory,
  getLastDocuments,
  type IndexContent,
  type Inventory,
  type PublishedMeta,
  toHeight,
  toPublishedStamp,
  toStamp,
} from '../schema/checkpoint.ts'
import { type Cluster, FIRST_PARTITION, findPartition, type Names } from '../schema/names.ts'
import type { InventoryKeeper } from './inventory-keeper.ts'
import type { Lease } from './lease.ts'
import { forcePublish, publishEnd, removeUnannounced, resendState } from './send-documents.ts'

type FinishParts = {
  readonly lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>
  readonly file: Pick<StateFile, 'mark' | 'unsent' | 'sent'>
  /** Confirms that the store has everything that is to be published; undefined for a repair, which compares every document. */
  readonly keeper?: Pick<InventoryKeeper, 'require'>
}

/**
 * Ends the batch that a dead loader had announced. The batch is published if this loader's file has its state, which is then
 * sent again, or if the store already has all of it. Otherwise it is abandoned, and the store is continued from its
 * published height. In either case history above the announced batch is removed, because it belongs to no batch. May be
 * repeated.
 */
export async function finishBatch(parts: FinishParts, published: PublishedMeta | undefined): Promise<void> {
  const { lease } = parts
  const { cluster } = lease
  const checkpoint = lease.checkpoint()
  const { end } = checkpoint
  requireSameEnd(cluster, checkpoint, published)
  // The end is unknown, so no history can be identified as above it.
  if (checkpoint.mending && checkpoint.batch === '') throw unfinishedRepair(cluster.names.prefix)
  if (end !== undefined && published?.batch !== checkpoint.batch) {
    const isNext = published === undefined || toStamp(published) < toStamp({ ...checkpoint, end })
    const documents = isNext ? await listUnsent(cluster, checkpoint, parts.file) : undefined
    if (documents === undefined) await abandonBatch(lease, published)
    else await resendBatch({ ...checkpoint, end }, documents, { ...parts, published })
  }
  await removeUnannounced(lease, lease.checkpoint())
}

/**
 * The documents of state that must be sent again to complete the announced batch. They are in this loader's file. There are
 * none if the state was stored before the checkpoint, as by a repair, or if the store has all of it. undefined: the file
 * does not have them, and the store does not have all of them.
 */
async function listUnsent(
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
 * Whether the store has all state of the announced batch: the last document of each index is there, which is sent after the
 * others (`sendInOrder`). These documents are written again as they are, because only an acknowledged write proves that all
 * copies have the documents before it.
 */
async function acknowledgeLast(cluster: Cluster, checkpoint: Checkpoint): Promise<boolean> {
  const { names } = cluster
  const last = getLastDocuments(checkpoint)
  const aliases = new Map(stateIndices.map(index => [names.state(index), names.into(index)]))
  const refs = [...aliases].flatMap(([index, alias]) => {
    const [id, version] = last[index] ?? []
    return id === undefined || version === undefined ? [] : [{ index: alias, id, version }]
  })
  const stored = await getMany(cluster.connection, refs, { realtime: true })
  const items = stored.flatMap((got, at) => {
    const ref = refs[at]
    if (got === undefined || ref === undefined || got.version < ref.version) return []
    return [toVersionedItem(ref, got.version, JSON.stringify(got.source))]
  })
  if (refs.length === 0 || items.length < refs.length) return false
  await sendBulk(cluster, items)
  return true
}

async function resendBatch(
  checkpoint: Checkpoint & { readonly end: Published },
  documents: readonly StateDocument[],
  { lease: { cluster }, file, keeper, published }: FinishParts & { readonly published: PublishedMeta | undefined },
): Promise<void> {
  await resendState(cluster, documents, { stamp: toStamp(checkpoint), published: toPublishedStamp(published) })
  await refresh(cluster, cluster.names.states)
  // The inventory of an earlier batch counts what a repair has removed since.
  const inventory = getInventory(checkpoint)
  if (inventory !== undefined) await keeper?.require(inventory, checkpoint.partitions)
  // If the published record was deleted by hand a moment ago, its deletion has a conflicting version.
  if (published === undefined) await forcePublish(cluster, checkpoint)
  else await publishEnd(cluster, checkpoint)
  if (documents.length > 0) await file.sent()
}

/**
 * Continues from what is published. The documents of the abandoned batch stay in the store: its history is the same when it
 * is written again, and each document of its state contains the one that it replaced. The next batch ends at the same height
 * or above, and writes every document that one of its blocks has changed, even if the content is the former one again. It
 * therefore replaces all documents of the abandoned batch.
 */
async function abandonBatch(
  { cluster, checkpoint, set }: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>,
  published: PublishedMeta | undefined,
): Promise<void> {
  const { end, filling, floor, from, inventory } = checkpoint()
  const { connection, names } = cluster
  if (published === undefined && from !== '')
    throw new Failure('damaged', `The record of what is published in ${names.meta} at ${connection.url} is gone.`, {
      help: formatRestoreHelp(names),
    })
  const next = published === undefined ? createEmptyContent(inventory) : toPublishedContent(names, published)
  const announced = end && { height: end.height, partition: filling.partition }
  const least = announced && floor && floor.height > announced.height ? floor : announced
  const isAbove = least !== undefined && least.height > (published?.end.height ?? -1)
  await set({ ...next, floor: isAbove ? least : undefined })
}

/** The part of a checkpoint that follows from the published record. */
export function toPublishedContent(names: Names, published: PublishedMeta) {
  const { end, batch, partitions, epoch, inventory } = published
  const partition = partitions.length - 1
  const counts = historyIndices.map(index => inventory?.indices[names.partition(index, partition)]?.[1] ?? 0)
  const filling = { partition, documents: counts.reduce((sum, count) => sum + count, 0) }
  return { end, batch, from: undefined, partitions, epoch, inventory, filling }
}

/** The content of a store before its first batch, with the indices that it was created with. */
function createEmptyContent(inventory: Inventory | undefined) {
  const indices: Record<string, IndexContent> = {}
  for (const [name, [uuid, documents]] of Object.entries(inventory?.indices ?? {}))
    indices[name] = documents === undefined ? [uuid] : [uuid, 0]
  const empty = inventory && { batch: '', indices, last: {} }
  const nothing = { end: undefined, batch: '', from: undefined }
  return { ...nothing, partitions: FIRST_PARTITION, filling: NOTHING_FILLED, inventory: empty }
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
    { help: `One of them was changed by another program. ${RUN_REPAIR}` },
  )
}

/**
 * Makes the loader's file contain the state of the last batch, which must be published. A file of this state gets the
 * documents that changed since its own stamp, because each has the stamp of the batch that wrote it, and no batch deletes
 * any. Every other file is filled anew.
 */
export async function bringHome(lease: Pick<Lease, 'cluster' | 'checkpoint' | 'set'>, file: StateFile): Promise<void> {
  const { end, epoch, batch, state: store = crypto.randomUUID() } = lease.checkpoint()
  if (lease.checkpoint().state === undefined) await lease.set({ state: store })
  const { mark } = file
  // Without a mark, a file may be filled in part.
  if (end === undefined) return await file.clear()
  const stamp = toStamp({ end, epoch })
  if (mark?.store === store && mark.batch === batch) return
  const { connection, names } = lease.cluster
  const readHash = async (height: number): Promise<unknown> => {
    const index = names.partition(blocks, findPartition(lease.checkpoint().partitions, height))
    const [block] = await getMany(connection, [{ index, id: blockId(height) }], { realtime: true })
    return block?.source['hash']
  }
  const isOfStore = mark?.store === store && mark.stamp <= stamp && mark.hash === (await readHash(toHeight(mark.stamp)))
  if (!isOfStore) await file.clear()
  await copyState(lease.cluster, file, isOfStore ? mark.stamp : undefined)
  await file.put([], { store, stamp, hash: end.hash, batch })
}

/** Copies the documents with a stamp above `after`, as they were at the published height; undefined: all. */
async function copyState(cluster: Cluster, file: StateFile, after: number | undefined): Promise<void> {
  const audit = await openAudit(cluster, stateIndices)
  try {
    for await (const page of audit.published(after))
      await file.put(
        page.map(({ index, id, doc }) => {
          if (doc === undefined) throw missingData(`The document '${id}' of ${index.name} cannot be read.`)
          return { index, doc } as StateDocument
        }),
      )
  } finally {
    await audit.close()
  }
}
