import { Failure, getErrorMessage, type Log } from '#failure/failure.ts'
import { RefusedCall } from '#node/call.ts'
import type { Clock } from '#time/clock.ts'
import { type Backoff, backoffMs } from '#time/retry.ts'

/**
 * The retry policy of a load. `waitMs`: failures of the node or the store that may pass are retried until no
 * block was loaded for that time. `always`: every failure is retried, because a service must go on.
 */
export type RetryPolicy = { readonly waitMs: number } | 'always'

/** Pauses before a failed load is tried again, varied by up to a quarter. */
const RETRY_BACKOFF: Backoff = { firstMs: 250, longestMs: 15_000, part: { from: 0.75, to: 1.25 } }

/** The node has a different block at the store's last height. It may recover; if not, `repair` helps. */
export class DivergedEnd extends Failure {}

/** Whether a retry may help. `retry` undefined: only temporary failures are retried. */
export function isTransient(failed: unknown, retry: RetryPolicy | undefined): boolean {
  if (retry === 'always') return true
  if (!(failed instanceof Failure)) return false
  // Another loader may end, but at an unknown time; a supervisor restarts this one.
  if (failed.kind !== 'conflict' && failed.retryable) return true
  if (retry === undefined) return false
  if (failed instanceof DivergedEnd) return retry.waitMs === Number.POSITIVE_INFINITY
  return failed.kind === 'bad_block' || failed instanceof RefusedCall
}

/** Consecutive failures after which even temporary trouble is logged as an error: half a minute. */
const ALARM_AFTER = 7

/**
 * Pauses after a failure, of which `attempt` occurred in a row. The pause is logged: as a warning while a node or store is
 * just unavailable; else, or if that lasts, as an error.
 */
export async function pauseAfterFailure(
  failed: unknown,
  { doing = 'Loading', attempt, height }: { doing?: 'Loading' | 'Writing'; attempt: number; height: number },
  { log, clock, signal }: { log: Log; clock: Pick<Clock, 'random' | 'sleep'>; signal: AbortSignal },
): Promise<void> {
  const passing = failed instanceof Failure && failed.retryable && failed.kind !== 'conflict'
  const help = failed instanceof Failure ? failed.help : undefined
  const pauseMs = backoffMs(RETRY_BACKOFF, attempt, clock.random())
  log(passing && attempt < ALARM_AFTER ? 'warn' : 'error', `${doing} paused, trying again.`, {
    reason: getErrorMessage(failed),
    ...(help === undefined ? {} : { help }),
    height,
    pause_ms: Math.round(pauseMs),
  })
  await clock.sleep(pauseMs, signal)
}

/** The Failure of a load or an archive whose waiting time is over; `last` is its last failure. */
export const retriesExhausted = (last: unknown, done: 'loaded' | 'written' = 'loaded'): Failure =>
  new Failure(
    'unavailable',
    `No block could be ${done} within the time of --wait: ${last instanceof Error ? last.message : 'no response'}`,
    {
      help:
        last instanceof Failure && last.help !== undefined
          ? last.help
          : 'Start it again; it continues where it ended. --wait sets how long it waits.',
      cause: last,
      retryable: true,
    },
  )
