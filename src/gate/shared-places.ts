import type { Bounds, Places } from './places.ts'
import { freeLock, growing, IdSlots, Lock, makeRoom, type SlotMemory, slotMemory } from './shared-memory.ts'

/** The memory in which threads 0 … `threads` − 1 count running and waiting requests. */
export type PlacesMemory = {
  readonly bounds: Bounds
  readonly threads: number
  /** The lock, then a number for each thread that changes when the thread should check for requests to start. */
  readonly words: SharedArrayBuffer
  readonly numbers: SharedArrayBuffer
  readonly slots: SlotMemory
  /** For each slot the running and the waiting requests, in all and in each thread. */
  readonly counts: SharedArrayBuffer
}

/** The index of the lock among the words, and the first index of the threads' wake numbers. */
const LOCK = 0
const WAKE = 1
/** Running and waiting requests in all, and the number of times that a place was taken. */
const RUNNING = 0
const WAITING = 1
const TAKEN = 2
/**
 * Then for each thread: running and waiting requests, whether it waits because all places are taken, and when
 * it last took one.
 */
const THREADS = 3
const PER_THREAD = 4
const BLOCKED = 2
const TOOK = 3
/** Maximum number of keys with running or waiting requests at once. */
const MAX_KEYS = 65_536

/** The first index of a thread's numbers. Running and waiting come first, as in the totals. */
const numbersAt = (thread: number): number => THREADS + thread * PER_THREAD
const widthOf = (threads: number): number => 2 * (1 + threads)

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

/**
 * The places of threads that share memory; the view of one thread. When all threads want places, each gets
 * them in turn.
 */
export class SharedPlaces implements Places {
  readonly bounds: Bounds
  readonly threads: number
  readonly #memory: PlacesMemory
  readonly #thread: number
  readonly #words: Int32Array<SharedArrayBuffer>
  readonly #numbers: Float64Array
  readonly #counts: Int32Array
  readonly #slots: IdSlots
  readonly #lock: Lock
  readonly #others: readonly number[]
  #isAsleep = false

  constructor(memory: PlacesMemory, thread: number) {
    this.bounds = memory.bounds
    this.threads = memory.threads
    this.#memory = memory
    this.#thread = thread
    this.#words = new Int32Array(memory.words)
    this.#numbers = new Float64Array(memory.numbers)
    this.#counts = new Int32Array(memory.counts)
    this.#slots = new IdSlots(memory.slots)
    this.#lock = new Lock(this.#words, LOCK, thread)
    this.#others = Array.from({ length: memory.threads }, (_, other) => other).filter(other => other !== thread)
  }

  running(): number {
    return this.#get(RUNNING)
  }

  waiting(): number {
    return this.#get(WAITING)
  }

  runningOf(key: string): number {
    return this.#countOf(key, RUNNING)
  }

  waitingOf(key: string): number {
    return this.#countOf(key, WAITING)
  }

  free(key: string): number {
    return Math.max(0, Math.min(this.#freeInAll(), this.bounds.runningOfKey - this.runningOf(key)))
  }

  take(key: string): boolean {
    return this.#lock.run(() => {
      if (this.free(key) === 0 || !this.#add(key, RUNNING, 1)) return false
      const taken = this.#get(TAKEN) + 1
      this.#numbers[TAKEN] = taken
      this.#numbers[numbersAt(this.#thread) + TOOK] = taken
      return true
    })
  }

  leave(key: string): void {
    this.#lock.run(() => this.#add(key, RUNNING, -1))
    if (this.waiting() === 0) return
    this.#wakeLongest(other => this.#isBlocked(other))
    this.#wakeLongest(other => this.#countOf(key, 2 * (1 + other) + WAITING) > 0)
  }

  hasRoom(): boolean {
    return this.bounds.waiting - this.waiting() - this.#keptForOthers() > 0
  }

  enter(key: string, instead?: string): boolean {
    return this.#lock.run(() => {
      if (instead === undefined && !this.hasRoom()) return false
      if (this.waitingOf(key) >= this.bounds.waitingOfKey || !this.#add(key, WAITING, 1)) return false
      return instead === undefined || this.#add(instead, WAITING, -1)
    })
  }

  quit(key: string): void {
    const gaveUp = this.#lock.run(() => {
      this.#add(key, WAITING, -1)
      return this.#get(numbersAt(this.#thread) + WAITING) === 0 && this.#isBlocked(this.#thread)
    })
    if (!gaveUp) return
    this.#block(false)
    // A place may have been reserved for this thread.
    this.#wakeLongest(other => this.#isBlocked(other))
  }

  mark(): number {
    this.#block(false)
    return Atomics.load(this.#words, WAKE + this.#thread)
  }

  sleep(mark: number, wake: () => void): void {
    const isFull = this.#lock.run(() => {
      const isFull = this.#freeInAll() <= 0
      this.#block(isFull)
      return isFull
    })
    // A place for which this thread was woken, and which it cannot use, is for another thread.
    if (!isFull) this.#wakeLongest(other => this.#isBlocked(other))
    if (this.#isAsleep) return
    const sleeping = Atomics.waitAsync(this.#words, WAKE + this.#thread, mark)
    if (!sleeping.async) {
      wake()
      return
    }
    this.#isAsleep = true
    void sleeping.value.then(() => {
      this.#isAsleep = false
      wake()
    })
  }

  #get(at: number): number {
    return this.#numbers[at] ?? 0
  }

  #countOf(key: string, what: number): number {
    const slot = this.#slots.of(key)
    return slot === undefined ? 0 : (this.#counts[slot * widthOf(this.threads) + what] ?? 0)
  }

  /** Changes the running or waiting count of a key; false: too many keys are in use for one more. */
  #add(key: string, what: number, change: number): boolean {
    const width = widthOf(this.threads)
    const isFree = (slot: number): number | undefined =>
      (this.#counts[slot * width + RUNNING] ?? 0) + (this.#counts[slot * width + WAITING] ?? 0) === 0 ? 0 : undefined
    const slot = this.#slots.of(key) ?? this.#slots.take(key, isFree)
    if (slot === undefined) return false
    makeRoom(this.#memory.counts, (slot + 1) * width * 4)
    for (const at of [slot * width + what, slot * width + 2 * (1 + this.#thread) + what])
      this.#counts[at] = (this.#counts[at] ?? 0) + change
    for (const at of [what, numbersAt(this.#thread) + what]) this.#numbers[at] = this.#get(at) + change
    return true
  }

  /** The free places of all keys, without those reserved for threads that have waited for longer than this one. */
  #freeInAll(): number {
    const free = this.bounds.running - this.running()
    if (free >= this.threads) return free
    return (
      free - this.#others.filter(other => this.#isBlocked(other) && this.#took(other) < this.#took(this.#thread)).length
    )
  }

  /**
   * Half of the waiting room is divided among the threads, so that a crowd on one thread leaves the shares of
   * the others free.
   */
  #keptForOthers(): number {
    const share = Math.floor(this.bounds.waiting / (2 * this.threads))
    let kept = 0
    for (const other of this.#others) kept += Math.max(0, share - this.#get(numbersAt(other) + WAITING))
    return kept
  }

  #took(thread: number): number {
    return this.#get(numbersAt(thread) + TOOK)
  }

  #isBlocked(thread: number): boolean {
    return this.#get(numbersAt(thread) + BLOCKED) > 0
  }

  /** Records whether this thread waits because no place is free. */
  #block(isBlocked: boolean): void {
    this.#numbers[numbersAt(this.#thread) + BLOCKED] = isBlocked ? 1 : 0
  }

  /** Wakes the longest-waiting thread among the other threads that `isMeant` selects. */
  #wakeLongest(isMeant: (other: number) => boolean): void {
    const [longest] = this.#others.filter(isMeant).toSorted((a, b) => this.#took(a) - this.#took(b))
    if (longest !== undefined) wake(this.#words, longest)
  }
}

/** Releases everything that a dead thread had taken, and wakes the others. `by` is the number of the current thread. */
export const forgetPlaces = (memory: PlacesMemory, dead: number, by: number): void => {
  const { threads, slots, counts } = memory
  const words = new Int32Array(memory.words)
  const numbers = new Float64Array(memory.numbers)
  const each = new Int32Array(counts)
  // The dead thread may have changed one of its own numbers and not yet the total, so the totals are recomputed.
  const sum = (of: (thread: number) => number | undefined): number => {
    let all = 0
    for (let thread = 0; thread < threads; thread++) all += of(thread) ?? 0
    return all
  }
  freeLock(words, LOCK, dead)
  new Lock(words, LOCK, by).run(() => {
    numbers.fill(0, numbersAt(dead), numbersAt(dead) + TOOK)
    for (const what of [RUNNING, WAITING]) numbers[what] = sum(thread => numbers[numbersAt(thread) + what])
    const width = widthOf(threads)
    for (let slot = 0; slot < Math.min(new IdSlots(slots).count, Math.floor(each.length / width)); slot++)
      for (const what of [RUNNING, WAITING]) {
        each[slot * width + 2 * (1 + dead) + what] = 0
        each[slot * width + what] = sum(thread => each[slot * width + 2 * (1 + thread) + what])
      }
  })
  for (let thread = 0; thread < threads; thread++) wake(words, thread)
}

/** Wakes a thread so that it checks for requests to start. */
const wake = (words: Int32Array<SharedArrayBuffer>, thread: number): void => {
  Atomics.add(words, WAKE + thread, 1)
  Atomics.notify(words, WAKE + thread)
}
