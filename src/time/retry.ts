import type { Clock } from './clock.ts'

/** Bounds of the pauses between retries. */
export type Backoff = {
  /** The pause before the second try. */
  readonly firstMs: number
  /** The longest pause; pauses double up to it. */
  readonly longestMs: number
  /** The actual pause is a random fraction between these two. Absent: between a half and the whole. */
  readonly part?: { readonly from: number; readonly to: number }
}

/**
 * Milliseconds to pause after `failures` in a row (from 1): the pause doubles up to the longest. `random` (0
 * ≤ x < 1) varies it, so that clients that failed together do not retry together.
 */
export const backoffMs = (
  { firstMs, longestMs, part: { from, to } = { from: 0.5, to: 1 } }: Backoff,
  failures: number,
  random: number,
): number => Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30)) * (from + (to - from) * random)

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
