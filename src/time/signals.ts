/** One signal that aborts when any of several does. */
export type Joined = {
  readonly signal: AbortSignal
  abort(reason: unknown): void
  /** Lets go of the signals: a long-lived one would otherwise collect a listener per question. */
  release(): void
}

export const joinSignals = (...signals: readonly (AbortSignal | undefined)[]): Joined => {
  const joined = new AbortController()
  const releases: (() => void)[] = []
  for (const signal of signals) {
    if (signal === undefined) continue
    const abort = (): void => joined.abort(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    releases.push(() => signal.removeEventListener('abort', abort))
  }
  return {
    signal: joined.signal,
    abort: reason => joined.abort(reason),
    release: () => {
      for (const release of releases) release()
    },
  }
}
