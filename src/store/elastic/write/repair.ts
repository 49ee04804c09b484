import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { historyIndices } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import type { Filling, Identity, Published, Writer } from '#store/port.ts'
import type { SettledEnd } from '#store/restored.ts'
import { sendBulk } from '../client/bulk.ts'
import { deleteItem, versionedItem } from '../client/bulk-item.ts'
import { forceVersion } from '../client/force-version.ts'
import { getMany } from '../client/get-many.ts'
import { refresh } from '../client/refresh.ts'
import { requestJson } from '../client/request-json.ts'
import { readablePublished } from '../schema/checkpoint.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { decode } from '../schema/documents.ts'
import { AT, HEIGHT } from '../schema/mappings.ts'
import { type Partitions, partitionAt } from '../schema/partitions.ts'
import { toStateId } from '../schema/state-ids.ts'
import type { Entry } from './journal.ts'
import type { Lease } from './keep-lease.ts'
import { newestStamp, showState } from './newest-stamp.ts'
import { finish, publication } from './recover.ts'
import { removeHistoryFrom } from './remove-leftovers.ts'
import { deletesAsSeen, makeWritable } from './rewrite-documents.ts'
import { entriesBack, type Step, stepsBack } from './undo.ts'

/** The part of a writer that repairs the store's own record. */
export type RepairWriter = Pick<Writer, 'unfinished' | 'shut' | 'blockAt' | 'endings' | 'takeBack' | 'settle'>

/** Stamps beyond this are from another program: numbers must stay exact. */
const SANE = 2 ** 50
/** Time after which all reads that began before the store was closed have ended; later ones are refused. */
const GRACE_MS = 1_000

export const repairWriterOf = async (lease: Lease): Promise<RepairWriter> => {
  const { cluster } = lease
  const isClear = await finishBatch(cluster, lease.checkpoint())
  return {
    get unfinished() {
      return !isClear || lease.checkpoint().mending === true
    },
    shut: () => lease.set({ mending: true }),
    blockAt: height => blockAt(cluster, lease.checkpoint().partitions, height),
    endings: () => (isClear ? endingsOf(cluster, lease.checkpoint()) : Promise.resolve([])),
    takeBack: height => takeBack(lease, height),
    settle: settled => settle(lease, settled),
  }
}

/** Finishes the batch of a dead loader; false: that is no longer possible. */
const finishBatch = async (cluster: Cluster, checkpoint: Checkpoint): Promise<boolean> => {
  const published = await readablePublished(cluster)
  if (published?.batch === checkpoint.batch) return true
  try {
    await finish(cluster, checkpoint, { published })
    return true
  } catch (error) {
    cluster.requireLease?.()
    // Damage is the reason for a repair. The next request throws any other failure too.
    if (error instanceof Failure && !error.retryable) return false
    throw error
  }
}

const blockAt = async (
  { connection, names }: Cluster,
  partitions: Partitions,
  height: number,
): Promise<BlockDoc | undefined> => {
  const index = names.partition(blocks, partitionAt(partitions, height))
  const [got] = await getMany(connection, [{ index, id: blockId(height) }], { realtime: true })
  return got === undefined ? undefined : decode(blocks, blockId(height), got.source)
}

/**
 * Heights in the checkpoint, the published record, the undo record of the last batch, and the document that
 * every batch writes.
 */
const endingsOf = async (cluster: Cluster, checkpoint: Checkpoint): Promise<readonly number[]> => {
  const { connection, names } = cluster
  const published = await readablePublished(cluster)
  const [step] = await Array.fromAsync(take(stepsBack(cluster, checkpoint.undo), 1))
  const ref = { index: names.state(statistics), id: toStateId(statistics, STATISTICS) }
  const [written] = await getMany(connection, [ref], { realtime: true })
  const at = written?.source[AT]
  return [
    checkpoint.end?.height,
    published?.end.height,
    step?.to.height,
    typeof at === 'number' ? at - (checkpoint.lift ?? 0) : undefined,
  ].filter(height => height !== undefined)
}

const take = async function* <T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count
  for await (const item of items) {
    yield item
    left -= 1
    if (left === 0) return
  }
}

/** A stamp above all stamps ever written. */
const nextStamp = async (cluster: Cluster, { end, lift }: Checkpoint): Promise<number> => {
  const { names } = cluster
  const published = await readablePublished(cluster)
  const [doc] = await getMany(cluster.connection, [{ index: names.meta, id: 'published' }], {
    realtime: true,
  })
  const known = [
    end === undefined ? 0 : stampOf({ end, lift }),
    published === undefined ? 0 : stampOf(published),
    doc?.version ?? 0,
  ]
  const highest = Math.max(0, ...known.filter(stamp => stamp < SANE))
  await showState(cluster)
  return (await newestStamp(cluster, highest, SANE)) + 1
}

/** Sets the checkpoint and publishes it; readers that know an earlier one read again. */
const publish = async (lease: Lease, next: Partial<Checkpoint> & { readonly end: Published }): Promise<void> => {
  const { cluster } = lease
  await lease.set({ ...next, batch: crypto.randomUUID(), parts: 0 })
  const [item, version] = publication(cluster.names, { ...lease.checkpoint(), end: next.end })
  await sendBulk(cluster, [item])
  await forceVersion(cluster, [item], version)
}

const settle = async (lease: Lease, { identity, end, open }: SettledEnd): Promise<void> => {
  const { cluster } = lease
  const before = lease.checkpoint()
  const stamp = await nextStamp(cluster, before)
  const partitions = before.partitions.filter((first, at) => at === 0 || first <= end.height)
  const [step] = await Array.fromAsync(take(stepsBack(cluster, before.undo), 1))
  const isKept = step?.to.height === end.height && step.to.hash === end.hash
  const next = {
    ...identityOf(identity),
    end,
    partitions,
    lift: Math.max(0, stamp - end.height),
    undo: isKept ? before.undo : undefined,
  }
  if (!open) {
    // If the process is killed before the history is removed, the next repair must still know its partitions.
    await publish(lease, { ...next, partitions: before.partitions, mending: true })
    await cluster.clock.sleep(GRACE_MS)
  }
  await removeAbove(cluster, end.height, before.partitions)
  const filling = await fillingOf(cluster, end.height, partitions)
  if (open) await publish(lease, { ...next, filling, mending: undefined })
  else await lease.set({ partitions, filling })
}

const identityOf = ({ chainId, genesis, derivation }: Identity) => ({ chainId, genesis, derivation })

/** Removes history above a height from all partitions; a merged partition becomes writable for good. */
const removeAbove = async (cluster: Cluster, height: number, partitions: Partitions): Promise<void> => {
  const { names } = cluster
  const first = partitionAt(partitions, height)
  // A loader may have created one more partition.
  const range = { first, last: partitions.length }
  const indices = historyIndices.flatMap(index =>
    partitions.slice(first).map((_, at) => names.partition(index, first + at)),
  )
  await makeWritable(cluster, indices)
  await removeHistoryFrom(cluster, height, range)
}

/** Number of documents in the last partition up to a height. */
const fillingOf = async ({ connection, names }: Cluster, height: number, partitions: Partitions): Promise<Filling> => {
  const partition = partitions.length - 1
  let documents = 0
  for (const index of historyIndices) {
    const name = names.partition(index, partition)
    const { count } = await requestJson<{ count: number }>(connection, {
      what: `count ${name}`,
      method: 'POST',
      path: `/${name}/_count`,
      body: JSON.stringify({ query: { range: { [HEIGHT]: { lte: height } } } }),
    })
    documents += count
  }
  return { partition, documents }
}

const takeBack = async (lease: Lease, height: number): Promise<Published | undefined> => {
  const { cluster } = lease
  const { end: last, mending } = lease.checkpoint()
  if (last === undefined || (last.height <= height && !mending)) return last
  const steps: Step[] = []
  let end = last
  for await (const step of stepsBack(cluster, lease.checkpoint().undo)) {
    if (end.height <= height) break
    if (step.to.height !== end.height) return undefined
    steps.push(step)
    end = step.before.end
  }
  const target = steps.at(-1)?.before
  if (end.height > height || target === undefined) return undefined
  await close(lease, last)
  const stamp = await nextStamp(cluster, lease.checkpoint())
  await putBack(cluster, entriesBack(steps), stamp)
  await removeAbove(cluster, end.height, lease.checkpoint().partitions)
  // If the record has no `undo`, there was none before; this batch's own record leads to no earlier end.
  const { undo } = target
  await publish(lease, { ...target, undo, lift: stamp - end.height, mending: undefined })
  return end
}

/** Closes the store to readers. If this process dies, batches can still be reverted from this end. */
const close = async (lease: Lease, end: Published): Promise<void> => {
  const { cluster } = lease
  const stamp = await nextStamp(cluster, lease.checkpoint())
  await publish(lease, { end, lift: stamp - end.height, mending: true })
  await cluster.clock.sleep(GRACE_MS)
}

/** Writes earlier documents with a new stamp, which is higher than any stamp that readers have seen. */
const putBack = async (cluster: Cluster, entries: readonly Entry[], stamp: number): Promise<void> => {
  const { names } = cluster
  const version = versionAt(stamp)
  const gone = entries.flatMap(({ index, id, source }) =>
    source === '' ? [deleteItem(names.state(index), toStateId(index, id))] : [],
  )
  const put = entries.flatMap(({ index, id, source }) =>
    source === ''
      ? []
      : [
          versionedItem(
            { index: names.into(index), id: toStateId(index, id) },
            version,
            `${source.slice(0, -1)},"${AT}":${stamp}}`,
          ),
        ],
  )
  await sendBulk(cluster, [...(await deletesAsSeen(cluster, gone)), ...put])
  await forceVersion(cluster, [...gone, ...put], version)
  await refresh(cluster, [...new Set(entries.map(({ index }) => names.state(index)))])
}
