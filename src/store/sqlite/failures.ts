import { SQLiteError } from 'bun:sqlite'
import { Failure } from '#failure/failure.ts'
import { describeRefusal } from '#store/own-files.ts'

/** The system's codes for files that this program opens itself, and the codes of SQLite that mean the same. */
const SYSTEM_CODES: ReadonlyMap<unknown, string> = new Map([
  ...['ENOSPC', 'EDQUOT'].map(code => [code, 'SQLITE_FULL'] as const),
  ...['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR'].map(code => [code, 'SQLITE_CANTOPEN'] as const),
])

export const FILE_DAMAGED =
  "The file itself is damaged, which no repair can mend. Restore a backup with 'iostlens restore', or load the chain into another file: 'iostlens load --node URL --store sqlite:PATH'. Either way take the API keys along: 'iostlens keys export FILE' from this file, then 'iostlens keys import FILE' into the other one. Then start the service with the other one."

/**
 * The Failure for an error of SQLite. Result codes: sqlite.org/rescode.html. A Failure is returned unchanged,
 * and so is any other error, which is a bug of ours.
 */
export function toSqliteFailure(name: string, error: unknown): unknown {
  if (error instanceof Failure) return error
  if (error instanceof RangeError && /BigInt|int64/.test(error.message))
    return new Failure('defect', `${name}: a number does not fit in 64 bits: ${error.message}.`, {
      cause: error,
    })
  const system = SYSTEM_CODES.get((error as { readonly code?: unknown } | undefined)?.code)
  if (!(error instanceof SQLiteError || (error instanceof Error && system !== undefined))) return error
  const { code = 'SQLITE_ERROR', message } = error as Error & { readonly code?: string }
  const primary = system ?? code.split('_').slice(0, 2).join('_')
  const text = `${name}: ${message} (${code}).`
  switch (primary) {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return new Failure('unavailable', text, {
        cause: error,
        help: 'Another process is writing to the file; try again.',
      })
    case 'SQLITE_FULL':
      return new Failure('unavailable', text, {
        cause: error,
        help: 'The disk is full. Nothing of this write was stored; free some space and try again.',
      })
    case 'SQLITE_NOTADB':
      return new Failure('conflict', `${name} is not an SQLite file (${code}).`, {
        cause: error,
        help: 'Set --store to another file.',
      })
    case 'SQLITE_CORRUPT':
      return new Failure('damaged', text, {
        cause: error,
        help: FILE_DAMAGED,
      })
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_READONLY':
    case 'SQLITE_PERM':
    case 'SQLITE_AUTH':
      return new Failure('unavailable', text, {
        cause: error,
        retryable: false,
        help: accessHelp(name),
      })
    case 'SQLITE_IOERR':
    case 'SQLITE_NOMEM':
    case 'SQLITE_INTERRUPT':
      return new Failure('unavailable', text, { cause: error })
    default:
      return new Failure('defect', text, { cause: error })
  }
}

/** The remedy for a file that may not be opened or written; `name` is `sqlite:PATH`, or a path. */
function accessHelp(name: string): string {
  const path = name.replace(/^sqlite:/, '')
  const refusal = describeRefusal(
    path,
    ['-wal', '-shm', '.lock'].map(end => `${path}${end}`),
  )
  return refusal === undefined
    ? 'The file must be readable; its folder must be writable for loaders, and for readers unless its -wal and -shm files are there.'
    : `${refusal}.`
}

/** Whether another connection holds the lock, so that a retry helps. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? '')

/** Runs `work`; errors of SQLite are thrown as Failure. */
export function guarded<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toSqliteFailure(name, error)
  }
}
