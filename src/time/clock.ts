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

/** Longest delay of a system timer: a longer one fires at once. */
const LONGEST_MS = 2 ** 31 - 1

const after: Clock['after'] = (ms, work) => {
  const timer = setTimeout(work, Math.min(ms, LONGEST_MS))
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
