import { refresh } from '../client/refresh.ts'
import { requestHits, searchOf } from '../client/request-json.ts'
import { lastStamp, MAX_EPOCH } from '../schema/checkpoint-record.ts'
import type { Cluster, ReadCluster } from '../schema/cluster.ts'
import { AT } from '../schema/mappings.ts'

/** Makes all state visible to the searches below: a loader that died while writing had not refreshed it. */
export const showState = (cluster: Cluster): Promise<void> =>
  refresh(cluster, cluster.names.states, { ignore_unavailable: 'true' })

/** Whether any visible state document has a stamp between two stamps. */
export const isNewerThan = async (
  cluster: ReadCluster,
  stamp: number,
  below = Number.MAX_SAFE_INTEGER,
): Promise<boolean> => {
  const { connection, names } = cluster
  const list = names.states.join(',')
  const query = { bool: { filter: [{ range: { [AT]: { gt: stamp, lt: below } } }] } }
  const mayBeMissing = { query: { ignore_unavailable: 'true' } }
  const hits = await requestHits(connection, searchOf(list, { size: 1, _source: false, query }, mayBeMissing))
  return hits.length > 0
}

/** The highest epoch of any state document, if it is above `from`; else `from`. */
export async function findEpoch(cluster: ReadCluster, from: number): Promise<number> {
  let epoch = from
  while (epoch < MAX_EPOCH && (await isNewerThan(cluster, lastStamp(epoch), lastStamp(MAX_EPOCH)))) epoch++
  return epoch
}
