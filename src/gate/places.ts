/** How many requests may run and how many may wait, in all threads together and of each key. */
export type Bounds = {
  readonly running: number
  readonly runningOfKey: number
  readonly waiting: number
  readonly waitingOfKey: number
}

/** What runs and waits, counted over all threads, as one of them sees it. A network counts as a key where nobody has one. */
export type Places = {
  readonly bounds: Bounds
  /** The number of threads that count together. */
  readonly threads: number
  /** How many run and wait, in all. */
  running(): number
  waiting(): number
  /** The same of a key. */
  runningOf(key: string): number
  waitingOf(key: string): number
  /** How many more of a key may run; another thread may be faster. */
  free(key: string): number
  /** Takes a place among those that run; false: there is none, or another thread was faster. */
  take(key: string): boolean
  /** Gives it back. */
  leave(key: string): void
  /** Whether there is room for one more that waits in this thread. */
  hasRoom(): boolean
  /** Takes a place among those that wait, or that of a key which waits in this thread; false: there is none. */
  enter(key: string, instead?: string): boolean
  quit(key: string): void
  /**
   * A mark to be taken before looking for a free place, and passed to `sleep`: a place that becomes free in between is not
   * missed.
   */
  mark(): number
  /** Calls `wake` once when another thread has made a place free; never where only this thread can. */
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
