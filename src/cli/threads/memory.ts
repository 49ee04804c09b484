import type { Capacity } from '#gate/queues.ts'
import { forgetCounts, type SharedCounts, sharedCounts } from '#gate/shared-counts.ts'
import { forgetGauges, type MetricsMemory } from '#metrics/memory.ts'
import { catalogue } from '../metrics/catalogue.ts'
import type { Values } from '../settings.ts'

/**
 * Counters shared by the threads of one service: threads 0 … `threads` − 1 serve, and the main thread has the
 * next number.
 */
export type ServingMemory = {
  readonly threads: number
  readonly callers: SharedCounts
  /** Bytes of node responses held by each thread. */
  readonly held: SharedArrayBuffer
  readonly metrics: MetricsMemory
}

type Limits = Pick<Values, 'max-in-flight' | 'max-exports' | 'max-feeds' | 'max-feeds-per-key'>

export const capacityOf = (values: Limits): Capacity => ({
  maxInFlight: values['max-in-flight'],
  maxExports: values['max-exports'],
  maxFeeds: values['max-feeds'],
  maxFeedsPerKey: values['max-feeds-per-key'],
})

export const servingMemory = (threads: number, metrics: MetricsMemory, values: Limits): ServingMemory => ({
  threads,
  callers: sharedCounts(capacityOf(values), threads),
  held: new SharedArrayBuffer(threads * 4),
  metrics,
})

/** Releases everything counted for a dead thread; called by the main thread. */
export const forgetThread = ({ threads, callers, held, metrics }: ServingMemory, dead: number): void => {
  Atomics.store(new Int32Array(held), dead, 0)
  forgetCounts(callers, dead, threads)
  forgetGauges(catalogue, metrics, dead)
}
