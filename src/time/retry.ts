import { type Backoff, backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'

/** Limits of retrying. */
export type RetryOptions = {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep' | 'random'>
  readonly backoff: Backoff
  /** Milliseconds for which tries go on without progress. */
  readonly retryTimeoutMs: number
  /** Called before each pause with the reason why the last try failed. */
  readonly onWait: (why: string, waitMs: number) => void
  /** The error to throw when the time is over. */
  readonly timeoutError: (why: string) => unknown
}

/** The outcome of one try: a value, or a reason to retry. */
export type TryResult<T> =
  | { readonly done: T }
  | {
      /** The reason to retry. */
      readonly retryReason: string
      /** This try got further than the one before: the timeout starts again, and with 'all' the pauses do too. */
      readonly anew?: 'timeout' | 'all' | undefined
    }

/**
 * Retries `attempt` with growing pauses until it is done, and returns its value. An error that `attempt`
 * throws ends the retries.
 */
export async function retry<T>(
  { clock, backoff, retryTimeoutMs, onWait, timeoutError }: RetryOptions,
  attempt: () => Promise<TryResult<T>>,
): Promise<T> {
  let since = clock.elapsed()
  for (let failures = 1; ; failures++) {
    const tried = await attempt()
    if ('done' in tried) return tried.done
    if (tried.anew !== undefined) since = clock.elapsed()
    else if (clock.elapsed() - since > retryTimeoutMs) throw timeoutError(tried.retryReason)
    if (tried.anew === 'all') failures = 1
    const waitMs = Math.round(backoffMs(backoff, failures, clock.random()))
    onWait(tried.retryReason, waitMs)
    await clock.sleep(waitMs)
  }
}
