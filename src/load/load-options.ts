import type { Log } from '#failure/log.ts'
import type { BatchBounds } from '#store/batch.ts'
import type { Proved } from '#store/proved.ts'
import type { Clock } from '#time/clock.ts'
import type { Patience } from './patience.ts'
import type { Progress } from './progress.ts'

/** What a load may be told. */
export type LoadOptions = {
  /** Last height to load; absent: the node's last irreversible block. */
  readonly to?: number
  /** Ends when there is nothing more to load; otherwise follows the chain. */
  readonly once: boolean
  readonly signal: AbortSignal
  /** Absent: node and store are waited for while they are out of reach, everything else ends the load. */
  readonly patience?: Patience
  readonly onProgress: (progress: Progress) => void
  readonly log: Log
  /** Told how long the derivation of each block took, milliseconds, with what it waited for. */
  readonly onDerived?: (ms: number) => void
  /** Told of each failure after which the load begins anew or ends. */
  readonly onFailure?: () => void
  /** Bounds of one batch; results do not depend on them. */
  readonly batch?: BatchBounds
  /** Pause between two looks at the head of a chain that is followed. */
  readonly pollMs?: number
  readonly clock?: Clock
  /** Of blocks that are loaded from a store: what is on record there of how far they were proved. */
  readonly recorded?: Proved
}
