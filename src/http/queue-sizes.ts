import { RUNNING, WAITING } from './places-memory.ts'
import type { QueuesMemory } from './turns.ts'

/** What runs and waits in each queue, in all threads. */
export type QueueSizes = Readonly<
  Record<keyof QueuesMemory, { readonly running: number; readonly waiting: number }>
>

export const queueSizes = (memory: QueuesMemory): QueueSizes => {
  const sizeOf = (queue: keyof QueuesMemory) => {
    const numbers = new Float64Array(memory[queue].numbers)
    return { running: numbers[RUNNING] ?? 0, waiting: numbers[WAITING] ?? 0 }
  }
  return {
    store: sizeOf('store'),
    node: sizeOf('node'),
    aside: sizeOf('aside'),
    lookups: sizeOf('lookups'),
    exports: sizeOf('exports'),
    feeds: sizeOf('feeds'),
    live: sizeOf('live'),
    downloads: sizeOf('downloads'),
  }
}
