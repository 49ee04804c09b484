import type { Log } from '#failure/log.ts'
import type { BatchBounds } from '#store/batch.ts'
import type { ProofRecord } from '#store/published.ts'
import type { Clock } from '#time/clock.ts'
import type { CommittedBatch } from './batches.ts'
import type { Collect } from './collect.ts'
import type { StageTimes } from './fill.ts'
import type { RetryPolicy } from './retry.ts'

/** Progress of a load. Heights count from 0, so `height` −1 is an empty store. */
export type LoadProgress = {
  /** Last committed and published height. */
  readonly height: number
  /** Last height that this load aims at: `to`, or the node's last irreversible block. */
  readonly target: number
  /** The node's last irreversible block. */
  readonly lib: number
  /** Number of documents committed since the store was last locked; a load that restarts counts from 0. */
  readonly blocks: number
  readonly transactions: number
  readonly records: number
  /** Time spent since then. */
  readonly spent: StageTimes
}

/** Options of a load. */
export type LoadOptions = {
  /** Last height to load; absent: the node's last irreversible block. */
  readonly to?: number
  /** true: the load ends when there are no more blocks; false: it follows the chain. */
  readonly once: boolean
  readonly signal: AbortSignal
  /** Absent: temporary failures of node and store are retried; any other failure ends the load. */
  readonly retry?: RetryPolicy
  readonly onProgress: (progress: LoadProgress) => void
  readonly log: Log
  /** Called with the derivation time of each block in milliseconds, including its waits. */
  readonly onDerived?: (ms: number) => void
  /** Called after each batch. */
  readonly onCommitted?: (batch: CommittedBatch) => void
  /** Called at each failure after which the load restarts or ends. */
  readonly onFailure?: () => void
  /** Limits of one batch; results do not depend on them. */
  readonly batch?: BatchBounds
  /** Absent: the default collector, which keeps the memory of the process flat. */
  readonly collect?: Collect
  /** Interval between two looks at the head of a chain that is followed, in milliseconds. */
  readonly pollMs?: number
  readonly clock?: Clock
  /** For blocks loaded from a store: the record there of their proofs. */
  readonly recorded?: ProofRecord
}
