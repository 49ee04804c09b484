import { type Lateness, watchLateness } from '#gate/lateness.ts'
import { countersIn } from '#metrics/counters.ts'
import { type MetricsMemory, metricsMemory } from '#metrics/memory.ts'
import { type Counts, catalogue } from './catalogue.ts'

/** The metrics of a process: threads 0 … `serving` − 1 serve, and the main thread has the next number. */
export type ProcessMetrics = {
  readonly memory: MetricsMemory
  /** Counters of the main thread, for events other than requests. */
  readonly own: Counts
}

export const processMetrics = (serving: number): ProcessMetrics => {
  const memory = metricsMemory(catalogue, serving + 1)
  return { memory, own: countersIn(catalogue, memory, serving) }
}

/**
 * Records each second the lateness of this thread and the number of log lines dropped. Does not keep the process alive.
 */
export const watchThread = (counts: Counts, droppedLines: () => number): Lateness =>
  watchLateness(ms => {
    counts.eventLoop.observe(ms / 1_000)
    counts.droppedLines.set(droppedLines())
  })
