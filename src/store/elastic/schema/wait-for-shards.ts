import { Failure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { requestJson, searchOf } from '../client/request-json.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Cluster } from './cluster.ts'

/** Pause between two attempts, milliseconds. */
export const WAIT_MS = 50
/** Maximum wait, milliseconds. An empty shard starts within a second unless the cluster cannot allocate it. */
const TIMEOUT_MS = 30_000
const UNAVAILABLE = 503

type Waiting = Pick<Clock, 'elapsed' | 'sleep'>

/**
 * Retries a read of indices that may just have been created, perhaps by another process: an index exists
 * before its shard has started, and does not answer until then.
 */
export const onceStarted = async <T>(read: () => Promise<T>, clock: Waiting): Promise<T> => {
  const since = clock.elapsed()
  for (;;) {
    try {
      return await read()
    } catch (error) {
      const starting = error instanceof Failure && error.details['status'] === UNAVAILABLE
      if (!starting || clock.elapsed() - since > TIMEOUT_MS) throw error
      await clock.sleep(WAIT_MS)
    }
  }
}

/** The checkpoint, once its shard has started. */
export const startedCheckpoint = (cluster: Cluster): ReturnType<typeof readCheckpoint> =>
  onceStarted(() => readCheckpoint(cluster), cluster.clock)

/** Resolves when every index that a loader reads answers. */
export const waitForShards = async (cluster: Cluster): Promise<void> => {
  const { connection, names } = cluster
  const indices = names.states.join(',')
  const search = searchOf(indices, { size: 0 }, { query: { filter_path: 'took' } })
  await onceStarted(() => requestJson(connection, search), cluster.clock)
}
