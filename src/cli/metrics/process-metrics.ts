import { type Lateness, watchLateness } from '#gate/lateness.ts'
import { countingIn } from '#metrics/counting.ts'
import { type MetricsMemory, metricsMemory } from '#metrics/memory.ts'
import { type Counts, catalogue } from './catalogue.ts'

/** The metrics of a process: threads 0 … `serving` − 1 serve, the next number is the main thread's. */
export type ProcessMetrics = {
  readonly memory: MetricsMemory
  /** How the main thread counts what is not about requests. */
  readonly own: Counts
}

export const processMetrics = (serving: number): ProcessMetrics => {
  const memory = metricsMemory(catalogue, serving + 1)
  return { memory, own: countingIn(catalogue, memory, serving) }
}

/** Notes each second how late this thread is, and how many lines of its log were dropped. Keeps no process running. */
export const watchThread = (counts: Counts, droppedLines: () => number): Lateness =>
  watchLateness(ms => {
    counts.eventLoop.observe(ms / 1_000)
    counts.droppedLines.set(droppedLines())
  })
