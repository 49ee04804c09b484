/** How many requests may run and how many may wait, in all threads together and of each key. */
export type Bounds = {
  readonly running: number
  readonly runningOfKey: number
  readonly waiting: number
  readonly waitingOfKey: number
}

/**
 * Running and waiting requests, counted over all threads; the view of one thread. Where callers have no key,
 * the network is the key.
 */
export type Places = {
  readonly bounds: Bounds
  /** The number of threads that count together. */
  readonly threads: number
  /** The number of running requests, and of waiting requests below, in all. */
  running(): number
  waiting(): number
  /** The same numbers for one key. */
  runningOf(key: string): number
  waitingOf(key: string): number
  /** The number of further requests of a key that may run. Another thread may take a place first. */
  free(key: string): number
  /** Takes a place among the running requests; false: none is free, or another thread took it first. */
  take(key: string): boolean
  /** Releases the place. */
  leave(key: string): void
  /** Whether one more request may wait in this thread. */
  hasRoom(): boolean
  /**
   * Takes a place among the waiting requests, or the place of a key that waits in this thread; false: there is none.
   */
  enter(key: string, instead?: string): boolean
  quit(key: string): void
  /**
   * A mark to take before looking for a free place, and to pass to `sleep`, so that a place that becomes free
   * in between is not missed.
   */
  mark(): number
  /** Calls `wake` once when another thread has freed a place; never where only this thread can free one. */
  sleep(mark: number, wake: () => void): void
}

type Count = { running: number; waiting: number }
const NONE: Readonly<Count> = { running: 0, waiting: 0 }

/** The places of a process with one thread. */
export const localPlaces = (bounds: Bounds): Places => {
  const all = { ...NONE }
  const keys = new Map<string, Count>()
  const of = (key: string): Readonly<Count> => keys.get(key) ?? NONE
  const add = (key: string, what: keyof Count, change: 1 | -1): void => {
    const own = keys.get(key) ?? { ...NONE }
    own[what] += change
    all[what] += change
    if (own.running + own.waiting === 0) keys.delete(key)
    else keys.set(key, own)
  }
  return {
    bounds,
    threads: 1,
    running: () => all.running,
    waiting: () => all.waiting,
    runningOf: key => of(key).running,
    waitingOf: key => of(key).waiting,
    free: key => Math.max(0, Math.min(bounds.running - all.running, bounds.runningOfKey - of(key).running)),
    take: key => {
      if (all.running >= bounds.running || of(key).running >= bounds.runningOfKey) return false
      add(key, 'running', 1)
      return true
    },
    leave: key => add(key, 'running', -1),
    hasRoom: () => all.waiting < bounds.waiting,
    enter: (key, instead) => {
      if (instead === undefined && all.waiting >= bounds.waiting) return false
      if (of(key).waiting >= bounds.waitingOfKey) return false
      add(key, 'waiting', 1)
      if (instead !== undefined) add(instead, 'waiting', -1)
      return true
    },
    quit: key => add(key, 'waiting', -1),
    mark: () => 0,
    sleep: () => undefined,
  }
}
