import { Failure } from '#failure/failure.ts'

/** The signal of one read, which ends each of its waits at once. `end` lets go of the signal. */
export class UntilAborted {
  private readonly signal: AbortSignal | undefined
  private readonly aborted = Promise.withResolvers<never>()
  private readonly abort = (): void => this.aborted.reject(passed(this.what))
  private what = ''

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal
    if (signal === undefined) return
    this.aborted.promise.catch(() => undefined)
    signal.addEventListener('abort', this.abort, { once: true })
  }

  /** The promise, or a 'deadline' as soon as the signal aborts; `what` completes "The deadline passed before …". */
  wait<T>(promise: Promise<T>, what: string): Promise<T> {
    this.what = what
    if (this.signal === undefined) return promise
    if (this.signal.aborted) this.abort()
    return Promise.race([promise, this.aborted.promise])
  }

  end(): void {
    this.signal?.removeEventListener('abort', this.abort)
  }
}

export const passed = (what: string): Failure =>
  new Failure('deadline', `The deadline passed before ${what}.`)
