/** A signal that aborts when any of several signals does. */
export type Joined = {
  readonly signal: AbortSignal
  abort(reason: unknown): void
  /** Removes the listeners: a long-lived signal would otherwise collect one per request. */
  release(): void
}

export function joinSignals(...signals: readonly (AbortSignal | undefined)[]): Joined {
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
