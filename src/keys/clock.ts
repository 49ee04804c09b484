/** Time as keys and requests see it; tests give one that they move. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs something once, later; the result takes it back. */
  after(ms: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
