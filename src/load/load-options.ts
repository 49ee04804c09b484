import type { Log } from '#failure/log.ts'
import type { BatchBounds } from '#store/batch.ts'
import type { Proved } from '#store/published.ts'
import type { Clock } from '#time/clock.ts'
import type { Collect } from './collect.ts'
import type { Spent } from './fill.ts'
import type { Retry } from './retry.ts'

/** How far a load is. Heights count from 0, so `height` −1 is an empty store. */
export type Progress = {
  /** Last committed and published height. */
  readonly height: number
  /** Where this load is going: `to`, or the node's last irreversible block. */
  readonly target: number
  /** The node's last irreversible block. */
  readonly lib: number
  /** Documents that were committed since the store was taken over last: a load that begins anew counts from 0 again. */
  readonly blocks: number
  readonly transactions: number
  readonly records: number
  /** Since then, too. */
  readonly spent: Spent
}

/** Options of a load. */
export type LoadOptions = {
  /** Last height to load; absent: the node's last irreversible block. */
  readonly to?: number
  /** Ends when there is nothing more to load; otherwise follows the chain. */
  readonly once: boolean
  readonly signal: AbortSignal
  /** Absent: node and store are waited for while they are out of reach, everything else ends the load. */
  readonly retry?: Retry
  readonly onProgress: (progress: Progress) => void
  readonly log: Log
  /** Called with how long the derivation of each block took, milliseconds, with what it waited for. */
  readonly onDerived?: (ms: number) => void
  /** Called at each failure after which the load begins anew or ends. */
  readonly onFailure?: () => void
  /** Bounds of one batch; results do not depend on them. */
  readonly batch?: BatchBounds
  /** Absent: the memory of the process is kept flat. */
  readonly collect?: Collect
  /** Pause between two looks at the head of a chain that is followed. */
  readonly pollMs?: number
  readonly clock?: Clock
  /** Of blocks that are loaded from a store: what is on record there of how far they were proved. */
  readonly recorded?: Proved
}
