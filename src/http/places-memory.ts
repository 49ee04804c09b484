import { growing, makeRoom } from '#shared/growing.ts'
import { idSlots, type SlotMemory, slotMemory } from '#shared/id-slots.ts'
import { freeLock, lockAt } from '#shared/lock.ts'

/** How many requests may run and how many may wait, in all threads together and of each key. */
export type Bounds = {
  readonly running: number
  readonly runningOfKey: number
  readonly waiting: number
  readonly waitingOfKey: number
}

export type PlacesMemory = {
  readonly bounds: Bounds
  readonly threads: number
  /** The lock, then a number for each thread that changes when the thread is to look again. */
  readonly words: SharedArrayBuffer
  readonly numbers: SharedArrayBuffer
  readonly slots: SlotMemory
  /** Of each slot what runs and what waits, in all and in each thread. */
  readonly counts: SharedArrayBuffer
}

/** Where the lock stands among the words, and where the numbers of threads begin. */
export const LOCK = 0
export const WAKE = 1
/** What runs and waits in all, and how often a place was taken. */
export const RUNNING = 0
export const WAITING = 1
export const TAKEN = 2
/** Then of each thread: what runs and waits, whether it waits because all places are taken, and when it last took one. */
const THREADS = 3
const PER_THREAD = 4
export const BLOCKED = 2
export const TOOK = 3
/** Keys that have something running or waiting at once. */
const MAX_KEYS = 65_536

/** Where the numbers of a thread begin; what runs and what waits come first, as at the begin of all. */
export const numbersAt = (thread: number): number => THREADS + thread * PER_THREAD

/** Memory for threads 0 … `threads` − 1. */
export const placesMemory = (bounds: Bounds, threads: number): PlacesMemory => {
  const slots = slotMemory(Math.min(MAX_KEYS, 4 * (bounds.running + bounds.waiting)))
  return {
    bounds,
    threads,
    words: new SharedArrayBuffer((WAKE + threads) * 4),
    numbers: new SharedArrayBuffer((THREADS + threads * PER_THREAD) * 8),
    slots,
    counts: growing(slots.buckets * slots.ways * (1 + threads) * 8),
  }
}

/** What runs and waits of each key. */
export const countsOf = ({ slots: slotMemory, counts, threads }: PlacesMemory, thread: number) => {
  const numbers = new Int32Array(counts)
  const slots = idSlots(slotMemory)
  const width = widthOf(threads)
  const isFree = (slot: number): number | undefined =>
    (numbers[slot * width + RUNNING] ?? 0) + (numbers[slot * width + WAITING] ?? 0) === 0 ? 0 : undefined
  const get = (key: string, what: number): number => {
    const slot = slots.of(key)
    return slot === undefined ? 0 : (numbers[slot * width + what] ?? 0)
  }
  return {
    get,
    /** Whether a thread has some of a key that wait. */
    waitsIn: (key: string, other: number): boolean => get(key, 2 * (1 + other) + WAITING) > 0,
    /** false: too many keys are in use for one more. */
    add: (key: string, what: number, change: number): boolean => {
      const slot = slots.of(key) ?? slots.take(key, isFree)
      if (slot === undefined) return false
      makeRoom(counts, (slot + 1) * width * 4)
      for (const at of [slot * width + what, slot * width + 2 * (1 + thread) + what])
        numbers[at] = (numbers[at] ?? 0) + change
      return true
    },
  }
}

/** Takes back what a thread that has died had taken, and lets the others look again. */
export const forgetPlaces = (memory: PlacesMemory, thread: number, by: number): void => {
  const { threads, slots, counts } = memory
  const words = new Int32Array(memory.words)
  const numbers = new Float64Array(memory.numbers)
  const each = new Int32Array(counts)
  freeLock(words, LOCK, thread)
  lockAt(words, LOCK, by).run(() => {
    numbers.fill(0, numbersAt(thread), numbersAt(thread) + TOOK)
    for (const what of [RUNNING, WAITING])
      numbers[what] = sumOf(threads, other => numbers[numbersAt(other) + what])
    const width = widthOf(threads)
    for (let slot = 0; slot < Math.min(idSlots(slots).count(), Math.floor(each.length / width)); slot++)
      for (const what of [RUNNING, WAITING]) {
        each[slot * width + 2 * (1 + thread) + what] = 0
        each[slot * width + what] = sumOf(threads, other => each[slot * width + 2 * (1 + other) + what])
      }
  })
  for (let other = 0; other < threads; other++) wake(words, other)
}

/** Lets a thread look again at what may start. */
export const wake = (words: Int32Array<SharedArrayBuffer>, thread: number): void => {
  Atomics.add(words, WAKE + thread, 1)
  Atomics.notify(words, WAKE + thread)
}

/** The sum over all threads: the dead one may have changed a number of its own and not yet that of all. */
const sumOf = (threads: number, of: (thread: number) => number | undefined): number =>
  Array.from({ length: threads }, (_, thread) => of(thread) ?? 0).reduce((sum, own) => sum + own, 0)

const widthOf = (threads: number): number => 2 * (1 + threads)
