import { setTimeout } from 'node:timers/promises'
import { Failure } from '#failure/failure.ts'
import type { SqliteConnection } from './connection.ts'
import { isBusy, toSqliteFailure } from './failures.ts'
import { getOwner, type Owner } from './meta.ts'

/** Maximum wait for the write lock, milliseconds; then 'unavailable'. A batch takes seconds at most. */
const TIMEOUT_MS = 30_000
const FIRST_WAIT_MS = 1
const LONGEST_WAIT_MS = 50

/**
 * Runs `work` as one transaction with the write lock, and waits for the lock without blocking the process.
 * After any failure nothing is stored. Errors of SQLite are thrown as Failure.
 */
export async function inTransaction<T>(
  connection: SqliteConnection,
  name: string,
  work: () => T | Promise<T>,
): Promise<T> {
  const { db } = connection
  try {
    await whileBusy(name, () => db.run('BEGIN IMMEDIATE'))
    const result = await work()
    db.run('COMMIT')
    return result
  } catch (error) {
    // SQLite may already have rolled back (disk full, I/O error).
    if (db.inTransaction) db.run('ROLLBACK')
    throw toSqliteFailure(name, error)
  }
}

/** Retries `attempt` while SQLite refuses it as busy. */
export async function whileBusy<T>(name: string, attempt: () => T): Promise<T> {
  const until = performance.now() + TIMEOUT_MS
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error)) throw toSqliteFailure(name, error)
      if (performance.now() > until) throw stillBusy(name, error)
    }
    await setTimeout(waitMs)
  }
}

const stillBusy = (name: string, cause: unknown): Failure =>
  new Failure('unavailable', `${name}: another process has been writing for ${TIMEOUT_MS} ms.`, { cause })

/** Begins a transaction with the write lock and blocks until then: for a thread with nothing else to do. */
export function beginBlocking({ db }: SqliteConnection, name: string): void {
  db.run(`PRAGMA busy_timeout = ${TIMEOUT_MS}`)
  try {
    db.run('BEGIN IMMEDIATE')
  } catch (error) {
    throw isBusy(error) ? stillBusy(name, error) : toSqliteFailure(name, error)
  }
}

/** Throws 'conflict' unless the path still leads to this file and `owner` is its writer. */
export function requireOwn(writing: SqliteConnection, name: string, owner: Owner): void {
  // The lock is by path, and another path may lead to the same file.
  const now = getOwner(writing)
  if (now?.token !== owner.token)
    throw new Failure('conflict', `Another loader has taken over ${name} (process ${now?.pid}, since ${now?.since}).`, {
      retryable: true,
    })
  requireInPlace(writing, name)
}

export function requireInPlace(writing: SqliteConnection, name: string): void {
  if (!writing.isInPlace())
    throw new Failure('conflict', `${name} was removed or replaced during loading.`, {
      help: 'Restore the right store file, without the -wal and -shm files of another one, and start again.',
    })
}
