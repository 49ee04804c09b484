import { Failure } from '#failure/failure.ts'
import type { Backoff } from '#time/backoff.ts'
import type { Clock } from '#time/clock.ts'
import { retry, type TryResult } from '#time/retry.ts'
import type { Connection } from './connection.ts'

/** An event that a writer reports to its caller. */
export type WriteEvent =
  /** Elasticsearch accepts no writes; the writer waits and retries. */
  | { readonly type: 'blocked'; readonly reason: string }
  | { readonly type: 'unblocked' }
  /** Elasticsearch is overloaded or unreachable; the writer retries after `waitMs`. */
  | { readonly type: 'retry'; readonly reason: string; readonly waitMs: number }

/** The connection and the limits for retries of writes. */
export type Sender = {
  readonly connection: Connection
  readonly clock: Clock
  readonly onEvent: (event: WriteEvent) => void
  /** Maximum time for one answer to a write, milliseconds. */
  readonly writeTimeoutMs: number
  /** Maximum time that a write may fail without progress, milliseconds. */
  readonly retryTimeoutMs: number
  /** Throws when this loader has lost its lease; called before each retry. */
  readonly requireLease?: () => void
}

/** Half of a pause is random, so that writers do not retry in step. */
const PAUSE: Backoff = { firstMs: 100, longestMs: 10_000 }

/**
 * Retries an attempt until it is done and returns its value. Each pause is a 'retry' event unless `onWait`
 * reports it. Throws 'unavailable' with the last reason after `sender.retryTimeoutMs` without progress.
 */
export function tryAgain<T>(
  { clock, retryTimeoutMs, onEvent }: Sender,
  attempt: () => Promise<TryResult<T>>,
  onWait = (reason: string, waitMs: number): void => onEvent({ type: 'retry', reason, waitMs }),
): Promise<T> {
  const timeoutError = (reason: string): Failure => new Failure('unavailable', reason)
  return retry({ clock, backoff: PAUSE, retryTimeoutMs, onWait, timeoutError }, attempt)
}
