import { Failure, type FailureOptions } from '#failure/failure.ts'

/** A failure in a message between threads. */
export type FailureMessage = Pick<Failure, 'kind' | 'message'> & FailureOptions

export function failureMessage(error: unknown): FailureMessage {
  if (!(error instanceof Failure)) return { kind: 'defect', message: String(error) }
  const { kind, message, help, zh, retryable, details } = error
  return {
    kind,
    message,
    retryable,
    details,
    ...(help === undefined ? {} : { help }),
    ...(zh === undefined ? {} : { zh }),
  }
}

export const decodeFailure = ({ failure: { kind, message, ...rest } }: { readonly failure: FailureMessage }): Failure =>
  new Failure(kind, message, rest)
