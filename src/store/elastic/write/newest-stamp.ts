import { refresh } from '../client/refresh.ts'
import { requestHits, searchOf } from '../client/request-json.ts'
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

/**
 * The highest stamp of any state document between `from` and `below`; `from` if there is none. Uses searches
 * alone, because stamps have no doc values.
 */
export const newestStamp = async (cluster: ReadCluster, from: number, below: number): Promise<number> => {
  let [some, none] = [from, from + 1]
  for (let step = 1; await isNewerThan(cluster, none - 1, below); step *= 2) {
    some = none
    none += step
  }
  // Some document has a stamp of at least `some`, and none of at least `none`.
  while (none - some > 1) {
    const middle = some + Math.floor((none - some) / 2)
    if (await isNewerThan(cluster, middle - 1, below)) some = middle
    else none = middle
  }
  return some
}
