import { lockAt } from '#shared/lock.ts'
import {
  countsOf,
  LOCK,
  numbersAt,
  type PlacesMemory,
  RUNNING,
  TAKEN,
  TOOK,
  WAITING,
} from './places-memory.ts'
import { threadTurns } from './thread-turns.ts'

/** What runs and waits, counted for all threads that have the same memory, as one of them sees it. */
export type Places = {
  /** How many of a key may start now in this thread, as far as can be seen without keeping the others out. */
  free(key: string): number
  /** How many run in all threads. */
  running(): number
  /** How many of a key may run. */
  readonly mostOfKey: number
  /** How many of a key run. */
  runningOf(key: string): number
  /** Takes a place among those that run; false: there is none, or another thread was faster. */
  take(key: string): boolean
  /** Gives a place back, and wakes a thread that waits for it. */
  leave(key: string): void
  /** How many wait, in all and of a key. */
  waiting(): number
  waitingOf(key: string): number
  /** Whether there is room for one more that waits in this thread. */
  hasRoom(): boolean
  /** Takes a place among those that wait, or that of a key which waits in this thread; false: there is none. */
  enter(key: string, instead?: string): boolean
  quit(key: string): void
  /** To be passed to `sleep` after a look at what may start: what becomes free in between is not missed. */
  look(): number
  /** Calls `wake` once when another thread has made a place free; nothing when only this thread can. */
  sleep(look: number, wake: () => void): void
}

export const openPlaces = (memory: PlacesMemory, thread: number): Places => {
  const { running, waiting, runningOfKey, waitingOfKey } = memory.bounds
  const numbers = new Float64Array(memory.numbers)
  const keys = countsOf(memory, thread)
  const turns = threadTurns(memory, thread)
  const lock = lockAt(new Int32Array(memory.words), LOCK, thread)
  const get = (at: number): number => numbers[at] ?? 0
  /** Changes what runs or waits of a key; false: too many keys are in use for one more. */
  const count = (key: string, what: number, change: number): boolean => {
    if (!keys.add(key, what, change)) return false
    for (const at of [what, numbersAt(thread) + what]) numbers[at] = get(at) + change
    return true
  }
  const freeInAll = (): number => {
    const free = running - get(RUNNING)
    return free >= memory.threads ? free : free - turns.owed()
  }
  const room = (): number => waiting - get(WAITING) - keptForOthers(memory, numbers, thread)
  return {
    free: key => Math.max(0, Math.min(freeInAll(), runningOfKey - keys.get(key, RUNNING))),
    running: () => get(RUNNING),
    mostOfKey: runningOfKey,
    runningOf: key => keys.get(key, RUNNING),
    take: key =>
      lock.run(() => {
        if (freeInAll() <= 0 || keys.get(key, RUNNING) >= runningOfKey || !count(key, RUNNING, 1))
          return false
        numbers[TAKEN] = get(TAKEN) + 1
        numbers[numbersAt(thread) + TOOK] = get(TAKEN)
        return true
      }),
    leave: key => {
      lock.run(() => count(key, RUNNING, -1))
      if (memory.threads === 1 || get(WAITING) === 0) return
      turns.wakeBlocked()
      turns.wakeOf(other => keys.waitsIn(key, other))
    },
    waiting: () => get(WAITING),
    waitingOf: key => keys.get(key, WAITING),
    hasRoom: () => room() > 0,
    enter: (key, instead) =>
      lock.run(() => {
        if (instead === undefined && room() <= 0) return false
        if (keys.get(key, WAITING) >= waitingOfKey || !count(key, WAITING, 1)) return false
        return instead === undefined || count(instead, WAITING, -1)
      }),
    quit: key => {
      const gaveUp = lock.run(() => {
        count(key, WAITING, -1)
        return get(numbersAt(thread) + WAITING) === 0 && turns.isBlocked()
      })
      if (!gaveUp) return
      turns.block(false)
      // A place may have been left to this thread.
      turns.wakeBlocked()
    },
    look: () => {
      turns.block(false)
      return turns.look()
    },
    sleep: (look, listener) => {
      if (memory.threads === 1) return
      const isFull = lock.run(() => {
        const isFull = freeInAll() <= 0
        turns.block(isFull)
        return isFull
      })
      // What this thread was woken for and cannot use is another one's.
      if (!isFull) turns.wakeBlocked()
      turns.sleep(look, listener)
    },
  }
}

/** Half of the room to wait is divided among the threads, so that a crowd on one thread leaves the others theirs. */
const keptForOthers = (
  { bounds, threads }: PlacesMemory,
  numbers: Float64Array<SharedArrayBuffer>,
  thread: number,
): number => {
  const share = Math.floor(bounds.waiting / (2 * threads))
  let kept = 0
  for (let other = 0; other < threads; other++)
    if (other !== thread) kept += Math.max(0, share - (numbers[numbersAt(other) + WAITING] ?? 0))
  return kept
}
