import { type Clock, systemClock } from './clock.ts'

/** Limits of the wait for a promise, each with the error that is thrown when it ends the wait. */
type Limits = {
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined
  /** The error after an abort; the signal's own reason by default. */
  readonly aborted?: () => unknown
  /** Ends the wait after this time in milliseconds. */
  readonly ms?: number
  readonly late?: () => unknown
  /** Measures `ms`. */
  readonly clock?: Pick<Clock, 'after'>
}

/**
 * Settles as `work` does, unless the signal aborts or the time expires first; the outcome of `work` is then
 * ignored. Leaves neither a timer nor a listener behind.
 */
export async function awaitLimited<T>(work: Promise<T>, limits: Limits): Promise<T> {
  const { signal, ms, clock = systemClock, aborted = () => signal?.reason } = limits
  const { late = () => new Error('The time limit has expired.') } = limits
  if (signal === undefined && ms === undefined) return work
  const over = Promise.withResolvers<never>()
  const abort = (): void => over.reject(aborted())
  const cancel = ms === undefined ? undefined : clock.after(ms, () => over.reject(late()))
  if (signal?.aborted === true) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, over.promise])
  } finally {
    cancel?.()
    signal?.removeEventListener('abort', abort)
  }
}

/** Like `awaitLimited`, but `ms` counts from the moment the signal aborts, and only that timeout ends the wait. */
export async function awaitLimitedAfterAbort<T>(
  work: Promise<T>,
  limits: Required<Pick<Limits, 'ms' | 'late'>> & { readonly signal: AbortSignal } & Pick<Limits, 'clock'>,
): Promise<T> {
  const { signal, ms, late, clock = systemClock } = limits
  const over = Promise.withResolvers<never>()
  let cancel: (() => void) | undefined
  const abort = (): void => {
    cancel = clock.after(ms, () => over.reject(late()))
  }
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, over.promise])
  } finally {
    cancel?.()
    signal.removeEventListener('abort', abort)
  }
}

/**
 * A signal that aborts when any of several signals does. `release` removes the listeners: a long-lived signal would
 * otherwise collect one per request.
 */
export function joinSignals(...signals: readonly (AbortSignal | undefined)[]) {
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
    abort: (reason: unknown): void => joined.abort(reason),
    release: (): void => {
      for (const release of releases) release()
    },
  }
}
