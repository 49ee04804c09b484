import { Failure } from '#failure/failure.ts'
import type { Backoff } from '#time/backoff.ts'
import { retry, type TryResult } from '#time/retry.ts'
import type { Sender } from './sender.ts'

/** Half of a pause is random, so that writers do not retry in step. */
const PAUSE: Backoff = { firstMs: 100, longestMs: 10_000 }

/**
 * Retries an attempt until it is done and returns its value. Each pause is a 'retry' event unless `onWait`
 * reports it. Throws 'unavailable' with the last reason after `sender.retryTimeoutMs` without progress.
 */
export const tryAgain = <T>(
  { clock, retryTimeoutMs, onEvent }: Sender,
  attempt: () => Promise<TryResult<T>>,
  onWait = (reason: string, waitMs: number): void => onEvent({ type: 'retry', reason, waitMs }),
): Promise<T> =>
  retry(
    {
      clock,
      backoff: PAUSE,
      retryTimeoutMs,
      onWait,
      timeoutError: reason => new Failure('unavailable', reason),
    },
    attempt,
  )
