import { Failure } from '#failure/failure.ts'
import type { Backoff } from '#time/backoff.ts'
import { retry, type Try } from '#time/retry.ts'
import type { Sender } from './sender.ts'

/** Half of a pause is chance, so that writers do not march in step. */
const PAUSE: Backoff = { firstMs: 100, longestMs: 10_000 }

/**
 * Tries until one is done and returns its value; each pause is a 'retry' event unless `onWait` says it otherwise. Throws
 * 'unavailable' with the last reason when nothing came further for `sender.patienceMs`.
 */
export const tryAgain = <T>(
  { clock, patienceMs, onEvent }: Sender,
  attempt: () => Promise<Try<T>>,
  onWait = (reason: string, waitMs: number): void => onEvent({ type: 'retry', reason, waitMs }),
): Promise<T> =>
  retry(
    { clock, backoff: PAUSE, patienceMs, onWait, tired: reason => new Failure('unavailable', reason) },
    attempt,
  )
