import { type Clock, systemClock } from './clock.ts'

/** What may end the wait for a promise before the promise does, each with the error that is thrown then. */
export type Limits = {
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined
  /** Default: the signal's own reason. */
  readonly aborted?: () => unknown
  /** Ends the wait after that number of milliseconds. */
  readonly ms?: number
  readonly late?: () => unknown
  /** Measures them. */
  readonly clock?: Pick<Clock, 'after'>
}

/**
 * What `work` resolves or rejects with, unless the signal aborts or the time is over before; what becomes of `work` is
 * ignored then. Leaves neither a timer nor a listener behind.
 */
export const within = async <T>(work: Promise<T>, limits: Limits): Promise<T> => {
  const { signal, ms, clock = systemClock, aborted = () => signal?.reason, late = lateError } = limits
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

/** Like `within`, but the milliseconds are counted from the moment the signal aborts, and only they end the wait. */
export const withinAfterAbort = async <T>(
  work: Promise<T>,
  limits: Required<Pick<Limits, 'ms' | 'late'>> & { readonly signal: AbortSignal } & Pick<Limits, 'clock'>,
): Promise<T> => {
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

const lateError = (): Error => new Error('The time limit has expired.')
