import type { Clock } from '#time/clock.ts'
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
