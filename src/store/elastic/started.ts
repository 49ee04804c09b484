import { Failure } from '#failure/failure.ts'
import type { Connection } from './connection.ts'
import { NO_SHARD } from './failures.ts'
import { readCheckpoint } from './meta.ts'
import type { Names } from './names.ts'
import type { Pace } from './pace.ts'

const WAIT_MS = 50
/** An empty shard starts within a second unless the cluster can not place it at all. */
const PATIENCE_MS = 30_000

/**
 * The checkpoint of indices that may have been created a moment ago, by another process perhaps: an index is there
 * before its shard is, and until then it answers nothing.
 */
export const startedCheckpoint = async (
  connection: Connection,
  names: Names,
  pace: Pick<Pace, 'now' | 'sleep'>,
): ReturnType<typeof readCheckpoint> => {
  const since = pace.now()
  for (;;) {
    try {
      return await readCheckpoint(connection, names)
    } catch (error) {
      const starting = error instanceof Failure && error.details['type'] === NO_SHARD
      if (!starting || pace.now() - since > PATIENCE_MS) throw error
      await pace.sleep(WAIT_MS)
    }
  }
}
