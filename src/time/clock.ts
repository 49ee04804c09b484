/** Time and randomness as one value, so that tests control both and do not wait. */
export type Clock = {
  /** Milliseconds since 1970. May be set back; a duration is measured with `elapsed`. */
  now(): number
  /** Milliseconds since an arbitrary moment; never goes back. */
  elapsed(): number
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Runs `work` once after `ms`, unless the returned function is called before. */
  after(ms: number, work: () => void): () => void
  /** A random number, 0 ≤ x < 1. */
  random(): number
}

const after: Clock['after'] = (ms, work) => {
  // A longer delay of a system timer fires at once.
  const timer = setTimeout(work, Math.min(ms, 2 ** 31 - 1))
  return () => clearTimeout(timer)
}

/** The clock and randomness of the machine. */
export const systemClock: Clock = {
  now: Date.now,
  elapsed: performance.now.bind(performance),
  sleep: (ms, signal) => awaitTimer(after, ms, signal),
  after,
  random: Math.random,
}

/** `Clock.sleep` by means of a clock's `after`; leaves neither a timer nor a listener behind. */
export const awaitTimer = (byClock: Clock['after'], ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const done = (): void => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = byClock(ms, done)
    signal?.addEventListener('abort', done)
  })

/** Runs `work` every `ms`, one run after the other, until `stop`. `work` must handle its own failures. */
export function runEvery(clock: Pick<Clock, 'sleep'>, ms: number, work: () => Promise<void> | void): { stop(): void } {
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(ms, stopping.signal)
      if (stopping.signal.aborted) return
      await work()
    }
  }
  void run()
  return { stop: () => stopping.abort() }
}

/** Resolves in the next turn of the event loop, after the timers and signals that are due. */
export const yieldEventLoop = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Lengths of time in milliseconds. A day is a UTC day without leap seconds. */
export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The rate of growth of a count. Times are in milliseconds, of a clock that never goes back. */
type Pace = {
  /**
   * Records the count at a time. A count that goes back has started over (a retry, another pass over the same
   * data). Earlier notes are then dropped, and the rate is measured from here on.
   */
  note(at: number, count: number): void
  /** Counts per second, never negative; 0 until there are two notes. */
  perSecond(): number
  /** The time in milliseconds over which `perSecond` is measured. */
  spanMs(): number
}

/** @param windowMs older notes are ignored, except for the last two */
export function createPace(windowMs = Number.POSITIVE_INFINITY): Pace {
  let notes: { readonly at: number; readonly count: number }[] = []
  const spanMs = (): number => (notes.at(-1)?.at ?? 0) - (notes[0]?.at ?? 0)
  return {
    note: (at, count) => {
      if (count < (notes.at(-1)?.count ?? count)) notes = []
      // Without a window only the first and the last note are used.
      if (windowMs === Number.POSITIVE_INFINITY) notes.splice(1)
      notes.push({ at, count })
      while (notes.length > 2 && (notes[0]?.at ?? at) < at - windowMs) notes.shift()
    },
    perSecond: () => {
      const ms = spanMs()
      return ms <= 0 ? 0 : (((notes.at(-1)?.count ?? 0) - (notes[0]?.count ?? 0)) * 1_000) / ms
    },
    spanMs,
  }
}
