import { Failure } from '#failure/failure.ts'
import { withinAfterAbort } from '#time/deadline.ts'

/**
 * Aborts at the first SIGINT or SIGTERM; a second one ends the process at once, with the usual exit code of the signal.
 */
export const stopSignal = (): AbortSignal => {
  const controller = new AbortController()
  const on = (name: 'SIGINT' | 'SIGTERM', number: number): void => {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + number)
      controller.abort()
    })
  }
  on('SIGINT', 2)
  on('SIGTERM', 15)
  return controller.signal
}

/** Resolves when the signal aborts. */
export const untilStopped = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Milliseconds to leave; longer than the current batch and the release of the store take together. */
export const LEAVE_MS = 5_000

/**
 * The result of `work`. A command that was asked to stop but still waits for a server is abandoned after
 * `afterMs`, which is safe because every step may be interrupted anywhere. Throws 'deadline' then.
 */
export const abandonWhenStopped = <T>(work: Promise<T>, signal: AbortSignal, afterMs: number): Promise<T> =>
  withinAfterAbort(work, {
    signal,
    ms: afterMs,
    late: () => new Failure('deadline', `Stopped before the end: a server did not answer for ${afterMs} ms.`),
  })
