import { Failure, type FailureKind } from '#failure/failure.ts'

/**
 * 0 success, 1 internal error, 2 usage error or another refusal that lasts until an operator acts, 3 difference found,
 * 75 temporary failure (EX_TEMPFAIL of sysexits.h).
 */
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

/**
 * The system's codes for a file that the operator named and this user may not use, or that is not of the wanted kind.
 * (https://man7.org/linux/man-pages/man3/errno.3.html)
 */
const REFUSED_FILES: ReadonlySet<string> = new Set(
  'EACCES EPERM EROFS ENOENT ENOTDIR EISDIR EEXIST ENAMETOOLONG ELOOP'.split(' '),
)

/** Whether the system refused a call, such as to open a file: the message names the call and the file. */
export const isSystemError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'

/**
 * The exit code for an error. A supervisor may restart the command exactly when it is 75. A failure that would last
 * (`retryable: false`) is one that an operator must end, such as a wrong password.
 */
export function toExitCode(error: unknown): ExitCode {
  // Other refusals of the system pass: a full disk, too many open files.
  if (isSystemError(error)) return REFUSED_FILES.has(error.code) ? 2 : 75
  if (!(error instanceof Failure)) return 1
  if (error.retryable) return 75
  const code = CODES[error.kind]
  return code === 75 ? 2 : code
}
