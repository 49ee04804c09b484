import type { Counts } from '#gate/queues.ts'
import type { HeadSource } from '#head/head-source.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { Call } from './command.ts'
import type { Counting } from './keep-counts.ts'
import type { ProcessMetrics } from './metrics/process-metrics.ts'
import type { ReadFrom } from './metrics/readings.ts'
import type { OperatorFiles } from './operator-files.ts'
import type { Address, SocketPath } from './readers.ts'

/** The parts needed to start the service. */
export type ServingParts = Pick<Call, 'values' | 'version' | 'log' | 'threadProgram' | 'droppedLines'> & {
  /** Writes lines logged by other threads. */
  readonly screen: Pick<Call['screen'], 'line'>
  /** Number of threads that serve; with 1, the current thread serves. */
  readonly threads: number
  readonly store: Store
  readonly node: Node | undefined
  readonly metrics: ProcessMetrics
  /** Pace of the load; absent: the process does not load. */
  readonly pace?: ReadFrom['pace']
}

/** The parts common to serving in this thread and serving with several threads. */
export type Serve = ServingParts & {
  readonly files: () => OperatorFiles
  /** The head blocks; absent: no node is followed. */
  readonly head?: HeadSource
  /** Counters of callers in the main thread. */
  readonly callers: Counts
  /** Must be called before any request is answered. */
  readonly beforeRequests: () => Promise<Counting>
}

export type Served = {
  readonly address: Address | SocketPath
  readonly counting: Counting
  /** Passes on the current contents of the operator's files. */
  tell(files: OperatorFiles): void
  stop(): Promise<void>
}
