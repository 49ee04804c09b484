import type { Counts } from '#gate/queues.ts'
import type { HeadSource } from '#head/showing.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { Call } from './command.ts'
import type { Counting } from './keep-counts.ts'
import type { ProcessMetrics } from './metrics/process-metrics.ts'
import type { ReadFrom } from './metrics/readings.ts'
import type { OperatorFiles } from './operator-files.ts'
import type { Address, SocketPath } from './readers.ts'

/** The parts that the service is started with. */
export type ServingParts = Pick<Call, 'values' | 'version' | 'log' | 'threadProgram' | 'droppedLines'> & {
  /** Gets the lines that other threads have logged. */
  readonly screen: Pick<Call['screen'], 'line'>
  /** As many threads serve; with 1 it is the current one. */
  readonly threads: number
  readonly store: Store
  readonly node: Node | undefined
  readonly metrics: ProcessMetrics
  /** Pace of the load; absent: the process loads nothing. */
  readonly pace?: ReadFrom['pace']
}

/** The parts that serving in this thread and by threads have in common. */
export type Serve = ServingParts & {
  readonly files: () => OperatorFiles
  /** Absent: no node is followed. */
  readonly head?: HeadSource
  /** Counts of callers, as the main thread sees them. */
  readonly callers: Counts
  /** To be called before any request is answered. */
  readonly beforeRequests: () => Promise<Counting>
}

export type Served = {
  readonly address: Address | SocketPath
  readonly counting: Counting
  /** Passes on what the operator's files say now. */
  tell(files: OperatorFiles): void
  stop(): Promise<void>
}
