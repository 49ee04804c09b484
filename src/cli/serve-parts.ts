import type { Log } from '#failure/log.ts'
import type { Counts } from '#gate/queues.ts'
import type { HeadSource } from '#head/showing.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { Given } from './given.ts'
import type { Counting } from './keep-counts.ts'
import type { ProcessMetrics } from './metrics/process-metrics.ts'
import type { ReadFrom } from './metrics/readings.ts'
import type { Address, SocketPath } from './readers.ts'
import type { Values } from './settings.ts'

/** What the service is started with. */
export type ServingParts = {
  readonly values: Values
  readonly version: string
  /** As many threads serve; with 1 it is the current one. */
  readonly threads: number
  /** The program of a thread. */
  readonly threadProgram: URL
  readonly store: Store
  readonly node: Node | undefined
  readonly log: Log
  /** Writes a line that another thread has logged. */
  readonly writeLine: (line: string) => void
  readonly metrics: ProcessMetrics
  /** How the load gets on; absent: the process loads nothing. */
  readonly pace?: ReadFrom['pace']
  /** Lines of the log that were dropped so far. */
  readonly droppedLines: () => number
}

/** What both ways to serve are made of. */
export type Serve = ServingParts & {
  readonly given: () => Given
  /** Absent: no node is followed. */
  readonly head?: HeadSource
  /** What callers do, as the main thread sees it. */
  readonly callers: Counts
  /** To be called before any request is answered. */
  readonly beforeRequests: () => Promise<Counting>
}

export type Served = {
  readonly address: Address | SocketPath
  readonly counting: Counting
  /** Passes on what the operator's files say now. */
  tell(given: Given): void
  stop(): Promise<void>
}
