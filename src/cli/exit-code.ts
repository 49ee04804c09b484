import { Failure, type FailureKind } from '#failure/failure.ts'

/** 0 success, 1 internal error, 2 usage error, 3 difference found, 75 temporary failure (EX_TEMPFAIL of sysexits.h). */
export type ExitCode = 0 | 1 | 2 | 3 | 75

const CODES: Readonly<Record<FailureKind, ExitCode>> = {
  usage: 2,
  bad_request: 2,
  unauthorized: 2,
  forbidden: 2,
  not_found: 2,
  replaced: 2,
  method_not_allowed: 2,
  uri_too_long: 2,
  rate_limited: 75,
  loading: 75,
  unavailable: 75,
  deadline: 75,
  // Stored data, or a node's answer, is wrong.
  bad_block: 3,
  damaged: 3,
  conflict: 3,
  defect: 1,
}

/** The exit code for an error. A supervisor may restart the command exactly when it is 75. */
export const exitCodeFor = (error: unknown): ExitCode => {
  if (!(error instanceof Failure)) return 1
  if (error.retryable) return 75
  const code = CODES[error.kind]
  return code === 75 ? 1 : code
}
