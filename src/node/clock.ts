/** Time and chance, so that tests need not wait. */
export type Clock = {
  /** Milliseconds, only ever compared with each other. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Runs `work` after `ms` unless the function it gives is called before. */
  after(ms: number, work: () => void): () => void
  /** 0 ≤ x < 1. */
  random(): number
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      if (signal?.aborted === true) done()
      else signal?.addEventListener('abort', done)
    }),
  after: (ms, work) => {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

const FIRST_MS = 250
/** Longest rest of a node that does not answer: long enough to spare it, short enough to notice its return. */
const LONGEST_MS = 10_000

/** Rest after the n-th failure in a row (from 1): doubles up to a limit, half of it by chance. */
export const backoffMs = (failures: number, random: number): number =>
  Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1)) * (0.5 + random / 2)
