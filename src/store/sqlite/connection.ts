import { constants, Database, SQLiteError, type Statement } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { Failure, type FailureKind, type FailureOptions, getErrorMessage } from '#failure/failure.ts'
import { createFile, describeRefusal } from '#store/own-files.ts'
import type { SqlTable } from './tables.ts'

/** The value of a cell; integers are bigint (`safeIntegers`), except in `SqliteConnection.numberRows`. */
export type Cell = string | bigint | number | Uint8Array | null

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
    return new Failure('defect', `${name}: a number does not fit in 64 bits: ${error.message}.`, { cause: error })
  const system = SYSTEM_CODES.get((error as { readonly code?: unknown } | undefined)?.code)
  if (!(error instanceof SQLiteError || (error instanceof Error && system !== undefined))) return error
  const { code = 'SQLITE_ERROR', message } = error as Error & { readonly code?: string }
  const primary = system ?? code.split('_').slice(0, 2).join('_')
  const text = `${name}: ${message} (${code}).`
  const fail = (kind: FailureKind, more: FailureOptions = {}): Failure =>
    new Failure(kind, text, { cause: error, ...more })
  switch (primary) {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return fail('unavailable', { help: 'Another process is writing to the file; try again.' })
    case 'SQLITE_FULL':
      return fail('unavailable', {
        help: 'The disk is full. Nothing of this write was stored; free some space and try again.',
      })
    case 'SQLITE_NOTADB':
      return new Failure('conflict', `${name} is not an SQLite file (${code}).`, {
        cause: error,
        help: 'Set --store to another file.',
      })
    case 'SQLITE_CORRUPT':
      return fail('damaged', { help: FILE_DAMAGED })
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_READONLY':
    case 'SQLITE_PERM':
    case 'SQLITE_AUTH':
      return fail('unavailable', { retryable: false, help: accessHelp(name) })
    case 'SQLITE_IOERR':
    case 'SQLITE_NOMEM':
    case 'SQLITE_INTERRUPT':
      return fail('unavailable')
    default:
      return fail('defect')
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
export function mapSqliteErrors<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toSqliteFailure(name, error)
  }
}

/** The result of `work`; undefined if it fails because of damage. */
export function undefinedIfDamaged<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

export const isDamage = (error: unknown): boolean => error instanceof Failure && error.kind === 'damaged'

type Prepared = Statement<unknown, Cell[]>

/** Identity of the file, independent of its path. */
export type FileMark = { readonly ino: number | undefined; readonly dev: number | undefined }

/** The layout of an earlier version's file (`rows.ts`). */
export type FormerLayout = {
  readonly hasIds: boolean
  /** Statements that read a document, by table. */
  readonly selects: Map<SqlTable, string>
}

/** An open file and its prepared statements. `row` and `rows` throw Failure. */
export type SqliteConnection = {
  /** Absent: the file has the layout of this version. */
  layout?: FormerLayout
  readonly db: Database
  readonly file: FileMark
  /** Prepares a statement once, and returns the same one from then on. */
  readonly statement: (sql: string) => Prepared
  /** First row; undefined: none. */
  readonly row: (sql: string, ...cells: Cell[]) => Cell[] | undefined
  readonly rows: (sql: string, ...cells: Cell[]) => Cell[][]
  /** Like `rows`, with integers as numbers, for a statement that selects none beyond 2^53. */
  readonly numberRows: (sql: string, ...cells: Cell[]) => Cell[][]
  /** Whether the path still leads to the open file. A store's file never shrinks. */
  readonly isInPlace: () => boolean
  /** Rolls back an open transaction, and frees statements and file; so does the end of `using`. */
  readonly close: () => void
  readonly [Symbol.dispose]: () => void
}

/** Whether the file exists. Throws Failure for a path to anything but a file: opening a pipe would block. */
function fileExists(path: string, name: string): boolean {
  const found = findStats(path, name)
  if (found !== undefined && !found.isFile())
    throw new Failure('unavailable', `${name} is not a file.`, { retryable: false, help: 'Set --store to a file.' })
  return found !== undefined
}

/** undefined: no file. Throws Failure for a path that can lead to none, such as one below a file. */
function findStats(path: string, name: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw new Failure('unavailable', `${name} cannot be opened: ${getErrorMessage(error)}.`, {
      cause: error,
      retryable: false,
      help: `${describeRefusal(path) ?? 'Set --store to a file in a folder that this user may open'}.`,
    })
  }
}

/** Opens for reading; undefined: no file. Creates nothing. `name` appears in messages. */
export const openReader = (path: string, name: string): SqliteConnection | undefined =>
  mapSqliteErrors(name, () => {
    if (!fileExists(path, name)) return undefined
    return configure(connect(path, name, new Database(path, { readonly: true, safeIntegers: true })), db => {
      // KiB. Further pages are in the system's cache anyway.
      db.run('PRAGMA cache_size = -4000')
    })
  })

/** Opens for writing; undefined: no file. */
export const openWriter = (path: string, name: string): SqliteConnection | undefined =>
  mapSqliteErrors(name, () => (fileExists(path, name) ? openOrCreate(path, name) : undefined))

/** Opens for writing; creates an empty file if there is none. Changes nothing in an existing file. */
export const openOrCreate = (path: string, name: string): SqliteConnection =>
  mapSqliteErrors(name, () => {
    if (!fileExists(path, name)) createFile(path)
    return configure(connect(path, name, new Database(path, { readwrite: true, safeIntegers: true })), db => {
      // After a kill, another process may be reading the log into the file; all later statements handle that themselves.
      db.run('PRAGMA busy_timeout = 2000')
      // The log outlives the last writer: without it a reader without write permission could not open the file.
      db.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
      // KiB. A batch's pages should stay in memory until it commits.
      db.run('PRAGMA cache_size = -32000')
      // A returned commit is in the system's page cache, so it survives the death of the process. Power loss may revert
      // the last commits, whole ones only: the log is synced before each checkpoint (sqlite.org/wal.html).
      db.run('PRAGMA synchronous = NORMAL')
      // The log is truncated to this size after a checkpoint; a long batch may temporarily need more.
      db.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
      db.run('PRAGMA busy_timeout = 0')
    })
  })

/** The connection, which is closed if `work` fails: the first statements tell whether the file is a database. */
function configure(connection: SqliteConnection, work: (db: Database) => void): SqliteConnection {
  try {
    work(connection.db)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

export function withMemoryDatabase<T>(work: (connection: SqliteConnection) => T): T {
  using connection = connect(':memory:', ':memory:', new Database(':memory:', { safeIntegers: true }))
  return work(connection)
}

function connect(path: string, name: string, db: Database): SqliteConnection {
  const prepared = new Map<string, Prepared>()
  // A statement has one form of integers for all its uses, so equal texts of both forms are two statements.
  const preparedNumbers = new Map<string, Prepared>()
  const prepare = (sql: string, known: Map<string, Prepared>): Prepared => {
    const made = db.prepare<unknown, Cell[]>(sql)
    known.set(sql, made)
    return made
  }
  const statement = (sql: string): Prepared => prepared.get(sql) ?? prepare(sql, prepared)
  const reading =
    (known: Map<string, Prepared>, areSafe: boolean) =>
    (sql: string, ...cells: Cell[]): Cell[][] => {
      try {
        return (known.get(sql) ?? prepare(sql, known).safeIntegers(areSafe)).values(...cells) as Cell[][]
      } catch (error) {
        throw toSqliteFailure(name, error)
      }
    }
  const rows = reading(prepared, true)
  const opened = findStats(path, name)
  const close = (): void => {
    if (db.inTransaction) db.run('ROLLBACK')
    // A statement that is not finalized keeps the file open.
    for (const known of [prepared, preparedNumbers]) {
      for (const each of known.values()) each.finalize()
      known.clear()
    }
    db.close()
  }
  return {
    db,
    file: { ino: opened?.ino, dev: opened?.dev },
    isInPlace: () => {
      const now = findStats(path, name)
      return now?.ino === opened?.ino && now?.dev === opened?.dev && (now?.size ?? 0) >= (opened?.size ?? 0)
    },
    statement,
    rows,
    numberRows: reading(preparedNumbers, false),
    row: (sql, ...cells) => rows(sql, ...cells)[0],
    close,
    [Symbol.dispose]: close,
  }
}
