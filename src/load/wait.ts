/** Resolves after `ms`, or at once when `signal` aborts. */
export const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) {
      resolve()
      return
    }
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })

/** Pause before try `attempt` (from 0): doubles from 250 ms up to 15 s, with ± 25 % so that many do not come at once. */
export const pauseMs = (attempt: number, random: () => number): number =>
  Math.min(15_000, 250 * 2 ** Math.min(attempt, 10)) * (0.75 + random() / 2)
