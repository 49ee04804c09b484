import type { ArchivedBlock } from '#archive/block-lines.ts'
import type { Writing } from '#archive/write.ts'
import type { Log } from '#failure/log.ts'
import { isTransient, logPause, RETRY_BACKOFF, retriesExhausted } from '#load/retry.ts'
import { backoffMs } from '#time/backoff.ts'
import type { Clock } from '#time/clock.ts'

type RetryOptions = {
  /** Time without a block after which the last failure counts as lasting, milliseconds. */
  readonly waitMs: number
  readonly clock: Pick<Clock, 'elapsed' | 'sleep' | 'random'>
  readonly log: Log
  /** Ends the pauses. */
  readonly signal: AbortSignal
}

/**
 * The blocks of a source that is asked again, from behind the last block that came, after failures that may pass, with the
 * pauses of a load. Throws any other failure, and 'unavailable' when none came for `waitMs`.
 */
export const retriedBlocks = (
  blocks: Writing['source'],
  { waitMs, clock, log, signal }: RetryOptions,
): Writing['source'] =>
  async function* (from, before): AsyncGenerator<ArchivedBlock> {
    let [next, parent] = [from, before]
    let [failures, since] = [0, clock.elapsed()]
    const pauseAfter = async (error: unknown): Promise<void> => {
      if (signal.aborted || !isTransient(error, undefined)) throw error
      if (clock.elapsed() - since > waitMs) throw retriesExhausted(error, 'written')
      failures += 1
      const pauseMs = backoffMs(RETRY_BACKOFF, failures, clock.random())
      logPause(log, error, { doing: 'Writing', attempt: failures, height: next - 1, pauseMs })
      await clock.sleep(pauseMs, signal)
    }
    while (!signal.aborted)
      try {
        for await (const archived of blocks(next, parent)) {
          failures = 0
          next = archived.block.height + 1
          parent = archived.block.hash
          yield archived
          since = clock.elapsed()
        }
        return
      } catch (error) {
        await pauseAfter(error)
      }
  }
