import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { historyIndices } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import type { SettledEnd } from '#store/maintain-port.ts'
import type { Filling, Identity, Published, Writer } from '#store/port.ts'
import type { FormerDocument, StateFile } from '#store/state-port.ts'
import { deleteItem, sendBulk, toVersionedItem } from '../client/bulk.ts'
import { getMany } from '../client/read-documents.ts'
import { refresh, removeWriteBlock } from '../client/sender.ts'
import type { Checkpoint } from '../schema/checkpoint.ts'
import { MAX_EPOCH, toEpoch, toHeight, toStamp, toVersion, tryReadPublished } from '../schema/checkpoint.ts'
import { decodeDoc, encodeDoc, stampText } from '../schema/documents.ts'
import { countEarlierDocuments } from '../schema/index-states.ts'
import { AT } from '../schema/mappings.ts'
import type { Cluster } from '../schema/names.ts'
import { findPartition, joinParts, type PartitionStarts, toStateId } from '../schema/names.ts'
import { parseContent } from './commit-batch.ts'
import { finishBatch } from './finish-batch.ts'
import type { Lease } from './lease.ts'
import { findEpoch, refreshState } from './restore-checkpoint.ts'
import { removeHistory, toSeenDeletes } from './rewrite-documents.ts'
import { forcePublish, forceVersion } from './send-documents.ts'

/** The part of a writer that repairs the store's own record. */
export type RepairPart = Pick<Writer, 'unfinished' | 'shut' | 'blockAt' | 'endings' | 'takeBack' | 'settle'>

/** Time after which all reads that began before the store was closed have ended; later ones are refused. */
const GRACE_MS = 1_000

export async function openRepair(lease: Lease, file: StateFile): Promise<RepairPart> {
  const { cluster } = lease
  const isClear = await tryToFinish(lease, file)
  return {
    get unfinished() {
      // Documents of an abandoned batch are among those of the state.
      return !isClear || lease.checkpoint().mending === true || lease.checkpoint().floor !== undefined
    },
    shut: () => lease.set({ mending: true }),
    blockAt: height => readBlock(cluster, lease.checkpoint().partitions, height),
    endings: () => (isClear ? listEndings(cluster, lease.checkpoint(), file) : Promise.resolve([])),
    takeBack: height => revertBlocks(lease, file, height),
    settle: settled => settleEnd(lease, file, settled),
  }
}

/** Publishes or abandons the batch of a dead loader; false: damage prevents it. */
async function tryToFinish(lease: Lease, file: StateFile): Promise<boolean> {
  const published = await tryReadPublished(lease.cluster)
  if (published?.batch === lease.checkpoint().batch) return true
  try {
    // The repair compares every document.
    await finishBatch({ lease, file, confirm: async () => {} }, published)
    return true
  } catch (error) {
    lease.cluster.requireLease()
    // Damage is the reason for a repair. The next request throws any other failure too.
    if (error instanceof Failure && !error.retryable) return false
    throw error
  }
}

async function readBlock(
  { connection, names }: Cluster,
  partitions: PartitionStarts,
  height: number,
): Promise<BlockDoc | undefined> {
  const index = names.partition(blocks, findPartition(partitions, height))
  const [got] = await getMany(connection, [{ index, id: blockId(height) }], { realtime: true })
  return got === undefined ? undefined : decodeDoc(blocks, blockId(height), got.source)
}

/**
 * Heights in the checkpoint, the published record, the loader's own file, and the document that every batch writes.
 */
async function listEndings(cluster: Cluster, checkpoint: Checkpoint, file: StateFile): Promise<readonly number[]> {
  const { connection, names } = cluster
  const published = await tryReadPublished(cluster)
  const ref = { index: names.state(statistics), id: toStateId(statistics, STATISTICS) }
  const [written] = await getMany(connection, [ref], { realtime: true })
  const at = written?.source[AT]
  return [
    checkpoint.end?.height,
    published?.end.height,
    file.mark?.store === checkpoint.state && file.mark ? toHeight(file.mark.stamp) : undefined,
    typeof at === 'number' ? toHeight(at) : undefined,
  ].filter(height => height !== undefined)
}

/** An epoch above all epochs ever written. */
async function nextEpoch(cluster: Cluster, { epoch = 0 }: Checkpoint): Promise<number> {
  const { names } = cluster
  const published = await tryReadPublished(cluster)
  const [doc] = await getMany(cluster.connection, [{ index: names.meta, id: 'published' }], { realtime: true })
  const known = [epoch, published?.epoch ?? 0, toEpoch((doc?.version ?? 1) - 1)]
  await refreshState(cluster)
  // Versions beyond are from another program.
  const next = (await findEpoch(cluster, Math.max(...known.filter(each => each <= MAX_EPOCH)))) + 1
  if (next <= MAX_EPOCH) return next
  throw new Failure('conflict', `${names.prefix} has documents of its last epoch, ${MAX_EPOCH}.`, {
    help: "Another program wrote them. Run 'iostlens load' with another --store.",
  })
}

/** Sets the checkpoint and publishes it; readers that know an earlier one read again. */
async function publishNext(lease: Lease, next: Partial<Checkpoint> & { readonly end: Published }): Promise<void> {
  await lease.set({ batch: crypto.randomUUID(), ...next, from: undefined, floor: undefined })
  await forcePublish(lease.cluster, { ...lease.checkpoint(), end: next.end })
}

/** Whether the file has the state of the store at this end. */
function isHome({ mark }: StateFile, { state }: Checkpoint, end: Pick<Published, 'height' | 'hash'>): boolean {
  return mark !== undefined && mark.store === state && toHeight(mark.stamp) === end.height && mark.hash === end.hash
}

async function settleEnd(lease: Lease, file: StateFile, { identity, end, open }: SettledEnd): Promise<void> {
  const { cluster } = lease
  const before = lease.checkpoint()
  const epoch = await nextEpoch(cluster, before)
  const partitions = before.partitions.filter((first, at) => at === 0 || first <= end.height)
  const state = before.floor === undefined && isHome(file, before, end) ? before.state : undefined
  const next = { ...pickIdentity(identity), end, partitions, epoch, state }
  if (!open) {
    // If the process is killed before the history is removed, the next repair must still know its partitions.
    await publishNext(lease, { ...next, partitions: before.partitions, mending: true })
    await cluster.clock.sleep(GRACE_MS)
  }
  await removeLaterHistory(cluster, end.height, before.partitions)
  const filling = await countFilling(cluster, end.height, partitions)
  if (open) await publishNext(lease, { ...next, filling, mending: undefined })
  else await lease.set({ partitions, filling })
}

function pickIdentity({ chainId, genesis, derivation }: Identity) {
  return { chainId, genesis, derivation }
}

/** Removes history above a height; a merged partition becomes writable for good. */
async function removeLaterHistory(cluster: Cluster, height: number, partitions: PartitionStarts): Promise<void> {
  const numbers = partitions.map((_, number) => number).slice(findPartition(partitions, height))
  const indices = numbers.flatMap(number => historyIndices.map(index => cluster.names.partition(index, number)))
  for (const part of joinParts(indices)) await removeWriteBlock(cluster.connection, part)
  await removeHistory(cluster, height, partitions)
}

/** Number of documents in the last partition up to a height. */
async function countFilling(
  { connection, names }: Cluster,
  height: number,
  partitions: PartitionStarts,
): Promise<Filling> {
  const partition = partitions.length - 1
  const indices = historyIndices.map(index => names.partition(index, partition))
  return { partition, documents: await countEarlierDocuments(connection, indices, height) }
}

async function revertBlocks(lease: Lease, file: StateFile, height: number): Promise<Published | undefined> {
  const { cluster } = lease
  const before = lease.checkpoint()
  const { end: last } = before
  if (last === undefined || (last.height <= height && !before.mending)) return last
  if (last.height <= height || before.floor !== undefined || !isHome(file, before, last)) return undefined
  const former = file.takeBack({ from: last.height, height }, text => parseContent(text)?.end.height)
  const target = former && parseContent(former.before)
  if (former === undefined || target === undefined) return undefined
  await closeStore(lease, last)
  const { end } = target
  const epoch = await nextEpoch(cluster, lease.checkpoint())
  await putBackState(cluster, former.documents, toStamp({ end, epoch }))
  await removeLaterHistory(cluster, end.height, lease.checkpoint().partitions)
  const batch = crypto.randomUUID()
  const inventory = target.inventory && { ...target.inventory, batch }
  await publishNext(lease, { ...target, batch, inventory, epoch, state: undefined, mending: undefined })
  return end
}

/** Closes the store to readers. If this process dies, batches can still be reverted from this end. */
async function closeStore(lease: Lease, end: Published): Promise<void> {
  const { cluster } = lease
  const epoch = await nextEpoch(cluster, lease.checkpoint())
  await publishNext(lease, { end, epoch, mending: true })
  await cluster.clock.sleep(GRACE_MS)
}

/** Writes former documents with a new stamp, which is higher than any stamp that readers have seen. */
async function putBackState(cluster: Cluster, documents: readonly FormerDocument[], stamp: number): Promise<void> {
  const { names } = cluster
  const version = toVersion(stamp)
  const deletes = documents.flatMap(({ index, id, doc }) =>
    doc === undefined ? [deleteItem(names.state(index), toStateId(index, id))] : [],
  )
  const put = documents.flatMap(({ index, id, doc }) =>
    doc === undefined
      ? []
      : [
          toVersionedItem(
            { index: names.into(index), id: toStateId(index, id) },
            version,
            stampText(encodeDoc(index, doc), stamp),
          ),
        ],
  )
  await sendBulk(cluster, [...(await toSeenDeletes(cluster, deletes)), ...put])
  await forceVersion(cluster, [...deletes, ...put], version)
  await refresh(cluster, [...new Set(documents.map(({ index }) => names.state(index)))])
}
