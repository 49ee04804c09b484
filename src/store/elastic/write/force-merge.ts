import type { estypes } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import { historyIndices } from '#indices/registry.ts'
import type { MergeOptions } from '#store/port.ts'
import { type ElasticConnection, requestJson } from '../client/request.ts'
import { addWriteBlock, isReadOnly, refresh } from '../client/sender.ts'
import { readPublished } from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/names.ts'

/** Force-merges every partition before the last published one to one segment and makes it read-only. */
export async function forceMergeFinished(cluster: Cluster, { signal, onProgress }: MergeOptions): Promise<void> {
  const published = await readPublished(cluster, signal)
  const names = cluster.names.at(published?.generations)
  const partitions = published?.partitions ?? []
  const finished = partitions
    .slice(0, -1)
    .flatMap((_, partition) => historyIndices.map(index => names.partition(index, partition)))
  for (const [before, name] of finished.entries()) {
    const place = { name, at: before + 1, of: finished.length }
    if (await isMerged(cluster.connection, name, signal)) {
      onProgress({ ...place, state: 'skipped' })
      continue
    }
    onProgress({ ...place, state: 'merging' })
    await mergeIndex(cluster, name, signal)
    onProgress({ ...place, state: 'merged' })
  }
}

/** The index becomes read-only first, because a write after the merge would create new segments. */
async function mergeIndex(cluster: Cluster, name: string, signal: AbortSignal): Promise<void> {
  await addWriteBlock(cluster.connection, name, signal)
  const { _shards } = await requestJson<{ readonly _shards: { readonly failed: number } }>(cluster.connection, {
    what: `merge ${name}`,
    method: 'POST',
    path: `/${name}/_forcemerge`,
    query: { max_num_segments: '1' },
    // Merging 30 GB takes an hour on a slow disk. After a cut connection a retry waits for the same merge.
    timeoutMs: 12 * 3_600_000,
    signal,
  })
  // Until a refresh, searches keep the old segments and their files.
  await refresh(cluster, [name])
  if (_shards.failed > 0 || !(await isMerged(cluster.connection, name, signal)))
    throw new Failure('unavailable', `${name} is not merged: ${_shards.failed} shard copies failed.`, {
      help: 'The usual cause is a full disk or a lost Elasticsearch node; see the log of Elasticsearch. Then run it again.',
    })
}

/** Whether the index is read-only and every copy has at most one segment. */
async function isMerged(connection: ElasticConnection, name: string, signal: AbortSignal): Promise<boolean> {
  if (!(await isReadOnly(connection, name, signal))) return false
  const stats = await requestJson<estypes.IndicesStatsResponse>(connection, {
    what: `read the segments of ${name}`,
    path: `/${name}/_stats/segments`,
    query: { level: 'shards' },
    signal,
  })
  const copies = Object.values(stats.indices?.[name]?.shards ?? {}).flat()
  return copies.length > 0 && copies.every(({ segments }) => segments !== undefined && segments.count <= 1)
}
