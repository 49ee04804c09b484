import { Failure } from '#failure/failure.ts'

/**
 * The promise, or a 'deadline' as soon as the signal aborts; `what` completes "The deadline passed before …". For waits
 * that are shared, and so have no end of their own: a request of the caller ends by itself.
 */
export const untilAborted = async <T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  what: string,
): Promise<T> => {
  if (signal === undefined) return promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(passed(what))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export const passed = (what: string): Failure =>
  new Failure('deadline', `The deadline passed before ${what}.`)
