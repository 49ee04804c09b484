import type { Clock } from '#time/clock.ts'
import type { Connection } from './connection.ts'

/** What a writer reports to its caller. */
export type WriteEvent =
  /** Elasticsearch accepts no writes; the writer waits and tries again. */
  | { readonly type: 'blocked'; readonly reason: string }
  | { readonly type: 'unblocked' }
  /** Elasticsearch is overloaded or out of reach; the writer tries again after `waitMs`. */
  | { readonly type: 'retry'; readonly reason: string; readonly waitMs: number }

/** The connection, and how long writes are tried again. */
export type Sender = {
  readonly connection: Connection
  readonly clock: Clock
  readonly onEvent: (event: WriteEvent) => void
  /** Longest time for one answer to a write, milliseconds. */
  readonly writeTimeoutMs: number
  /** How long a write may fail without progress before it is given up, milliseconds. */
  readonly retryTimeoutMs: number
  /** Throws when this loader has lost its lease; called before each new try. */
  readonly requireLease?: () => void
}
