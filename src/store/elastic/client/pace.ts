import { Failure } from '#failure/failure.ts'

/** Time and chance, so that tests need neither. */
export type Pace = {
  readonly sleep: (ms: number) => Promise<void>
  /** 0 ≤ x < 1. */
  readonly random: () => number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000

/** Wait before try number `attempt` (from 0): doubles up to 10 s; half of it is chance, so that writers do not march in step. */
export const backOff = (attempt: number, random: number): number => {
  const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 20))
  return Math.round(full / 2 + (full / 2) * random)
}

/** The system's clock; `signal` ends every wait with 'unavailable'. */
export const systemPace = (signal: AbortSignal): Pace => ({
  random: Math.random,
  now: Date.now,
  sleep: ms =>
    new Promise((resolve, reject) => {
      const closed = () => {
        clearTimeout(timer)
        reject(new Failure('unavailable', 'The store was closed.', { retryable: false }))
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', closed)
        resolve()
      }, ms)
      if (signal.aborted) closed()
      else signal.addEventListener('abort', closed, { once: true })
    }),
})
