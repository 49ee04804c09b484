import { Failure, type FailureKind, type Log } from '#failure/failure.ts'
import type { Environment, Resolved } from './read-settings.ts'
import type { SettingName, Values } from './settings.ts'
import type { Screen } from './stderr.ts'

/** Rows as lines of aligned columns, two spaces apart; the last column is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  return rows.map(row =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
  )
}

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

/** The process, as commands see it. */
export type Process = {
  readonly version: string
  readonly environment: Environment
  /** Writes one line of output to stdout. */
  readonly out: (line: string) => void
  readonly screen: Screen
  readonly droppedLines: () => number
  /** Returns a signal that aborts when the process is asked to stop; called only when a command actually runs. */
  readonly stop: () => AbortSignal
  /** The program of the threads that prove blocks. */
  readonly provingProgram: URL
  /** The program of the thread that writes to an SQLite store. */
  readonly writingProgram: URL
}

export type CommandCall = Resolved &
  Omit<Process, 'environment' | 'stop'> & {
    /** The words after the command's name that are not flags, one for each of the command's `words`. */
    readonly words: readonly string[]
    /** Aborts when the process is asked to stop. */
    readonly signal: AbortSignal
    readonly log: Log
  }

export type Command = {
  /** One or two words: `load`, `keys add`. */
  readonly name: string
  /** Names of the required arguments, such as NAME; absent: it has none. */
  readonly words?: readonly string[]
  /** One line for lists of commands. */
  readonly summary: string
  /** The text of its `--help`: short paragraphs. */
  readonly about: readonly string[]
  readonly settings: readonly SettingName[]
  readonly examples: readonly string[]
  readonly run: (call: CommandCall) => Promise<ExitCode>
}

/** The height in `--to`; undefined: none. Throws 'usage' when `--to` is a store. */
export function parseToHeight({ to }: Pick<Values, 'to'>): number | undefined {
  if (typeof to !== 'object') return to
  throw new Failure('usage', '--to names a store, but this command takes a height.', {
    help: 'Set --to to the height of the last block.',
  })
}
