import { type Backoff, backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'

/** Bounds of trying again. */
export type Retry = {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep' | 'random'>
  readonly backoff: Backoff
  /** Without progress, tries go on for this long, milliseconds. */
  readonly retryTimeoutMs: number
  /** Called before each pause, with why the last try did not do. */
  readonly onWait: (why: string, waitMs: number) => void
  /** What is thrown when the time is over. */
  readonly tired: (why: string) => unknown
}

/** What became of one try: done with a value, or to be tried again. */
export type Try<T> =
  | { readonly done: T }
  | {
      /** Why. */
      readonly again: string
      /** This try got further than the one before: the time starts again, and with 'all' the pauses do too. */
      readonly anew?: 'timeout' | 'all' | undefined
    }

/** Tries until one is done and returns its value, with growing pauses. What `attempt` throws ends it. */
export const retry = async <T>(
  { clock, backoff, retryTimeoutMs, onWait, tired }: Retry,
  attempt: () => Promise<Try<T>>,
): Promise<T> => {
  let since = clock.elapsed()
  for (let failures = 1; ; failures++) {
    const tried = await attempt()
    if ('done' in tried) return tried.done
    if (tried.anew !== undefined) since = clock.elapsed()
    else if (clock.elapsed() - since > retryTimeoutMs) throw tired(tried.again)
    if (tried.anew === 'all') failures = 1
    const waitMs = Math.round(backoffMs(backoff, failures, clock.random()))
    onWait(tried.again, waitMs)
    await clock.sleep(waitMs)
  }
}
