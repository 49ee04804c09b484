import { historyIndices } from '#indices/registry.ts'
import { sendBulk } from '../client/bulk.ts'
import { deleteSeenItem } from '../client/bulk-item.ts'
import { refresh } from '../client/refresh.ts'
import { requestHits, searchOf } from '../client/request-json.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { HEIGHT } from '../schema/mappings.ts'
import { partsOf } from '../schema/names.ts'

type Hit = {
  readonly _index: string
  readonly _id: string
  readonly _seq_no: number
  readonly _primary_term: number
}

const AT_ONCE = 5000
const MAY_BE_MISSING = { ignore_unavailable: 'true' }

/**
 * Removes history above the checkpoint, which a dead loader wrote and did not announce. It is in the last partition or in
 * the next one, which that loader was about to open; without a checkpoint it may be in any partition.
 */
export const removeHistoryAbove = async (
  cluster: Cluster,
  { end, floor, partitions }: Pick<Checkpoint, 'end' | 'floor' | 'partitions'>,
): Promise<void> => {
  const { names } = cluster
  const next = partitions.length
  const indices = historyIndices.flatMap(index => [
    end === undefined ? names.history(index) : names.partition(index, next - 1),
    names.partition(index, next),
  ])
  await remove(cluster, indices, { range: { [HEIGHT]: { gt: Math.max(floor?.height ?? -1, end?.height ?? -1) } } })
}

/** Removes history above a height from every partition in the range. */
export const removeHistoryFrom = async (
  cluster: Cluster,
  height: number,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<void> => {
  const { names } = cluster
  const partitions = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const indices = partitions.flatMap(partition => historyIndices.map(index => names.partition(index, partition)))
  await remove(cluster, indices, { range: { [HEIGHT]: { gt: height } } })
}

/**
 * Searches for documents and deletes each only in the version that was found, so that a delayed delete cannot
 * remove a later document. Indices may be missing.
 */
const remove = async (cluster: Cluster, indices: readonly string[], query: object): Promise<void> => {
  for (const part of partsOf(indices)) await removeIn(cluster, part, query)
}

const removeIn = async (cluster: Cluster, indices: readonly string[], query: object): Promise<void> => {
  for (;;) {
    await refresh(cluster, indices, MAY_BE_MISSING)
    const search = {
      ...{ size: AT_ONCE, _source: false, seq_no_primary_term: true, sort: ['_doc'] },
      query: { bool: { filter: [query] } },
    }
    const how = { query: MAY_BE_MISSING, timeoutMs: cluster.writeTimeoutMs }
    const hits = await requestHits<Hit>(cluster.connection, searchOf(String(indices), search, how))
    if (hits.length === 0) return
    const items = hits.map(hit =>
      deleteSeenItem({ index: hit._index, id: hit._id }, { seqNo: hit._seq_no, primaryTerm: hit._primary_term }),
    )
    await sendBulk(cluster, items)
  }
}
