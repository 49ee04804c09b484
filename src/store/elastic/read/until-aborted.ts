import { Failure } from '#failure/failure.ts'
import { within } from '#time/deadline.ts'

/** The promise, or a 'deadline' as soon as the signal aborts; `what` completes "The deadline passed before …". */
export const untilAborted = <T>(
  signal: AbortSignal | undefined,
  promise: Promise<T>,
  what = 'the published height was read',
): Promise<T> => within(promise, { signal, aborted: () => passed(what) })

export const passed = (what: string): Failure =>
  new Failure('deadline', `The deadline passed before ${what}.`)
