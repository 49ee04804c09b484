import { setTimeout } from 'node:timers/promises'
import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { otherVersion, RUN_REPAIR, requireDerivation } from '#store/failures.ts'
import type { Identity, Published } from '#store/port.ts'
import { isCount, parsePublishedRecord, toMembers } from '../published.ts'
import { isBusy, type SqliteConnection, toSqliteFailure } from './connection.ts'
import { fingerprint, getTable, quoteIdentifier } from './tables.ts'

/** The writer: `token` distinguishes take-overs; the other members are for messages. */
export type Owner = { readonly token: string; readonly pid: number; readonly since: string }

/** `mark` and `unsent` are those of a state file, the others those of a store. */
type MetaKey = 'schema' | 'identity' | 'published' | 'writer' | 'mending' | 'keys' | 'mark' | 'unsent'

/** `beside`: the name of an attached store. */
type Database = 'main' | 'beside'

export function getMeta(connection: SqliteConnection, key: MetaKey, database: Database = 'main'): string | undefined {
  const value = connection.row(`SELECT "value" FROM ${database}."meta" WHERE "key" = ?`, key)?.[0]
  return typeof value === 'string' ? value : undefined
}

export function putMeta(connection: SqliteConnection, key: MetaKey, value: string): void {
  connection.statement('INSERT OR REPLACE INTO "meta" ("key", "value") VALUES (?, ?)').run(key, value)
}

export function getPublished(connection: SqliteConnection, database?: Database): Published | undefined {
  const text = getMeta(connection, 'published', database)
  return text === undefined
    ? refuseLostRecord(connection, 'published', database)
    : (parsePublished(text) ?? unreadable('published'))
}
export const putPublished = (connection: SqliteConnection, published: Published): void =>
  putMeta(connection, 'published', formatPublished(published))

export const formatPublished = ({ height, hash, time, lib, proved }: Published): string =>
  JSON.stringify({ height, hash, time: String(time), lib, proved })
/** undefined: the text is not a published record. */
export const parsePublished = (text: string): Published | undefined => parsePublishedRecord(tryParseJson(text))

function unreadable(key: MetaKey): never {
  throw new Failure('damaged', `The record '${key}' in the table meta of the store cannot be read.`, {
    help: RUN_REPAIR,
  })
}

/** Without blocks there never was a record; with blocks it was lost. */
function refuseLostRecord(connection: SqliteConnection, key: MetaKey, database: Database = 'main'): undefined {
  const { name } = getTable(blocks)
  const isThere = connection.row(`SELECT 1 FROM ${database}.sqlite_schema WHERE "type" = 'table' AND "name" = ?`, name)
  if (
    isThere === undefined ||
    connection.row(`SELECT 1 FROM ${database}.${quoteIdentifier(name)} LIMIT 1`) === undefined
  )
    return undefined
  throw new Failure('damaged', `The store has blocks, but the record '${key}' in its table meta is lost.`, {
    help: RUN_REPAIR,
  })
}

/** An unfinished repair is changing the published data: the store must not be read or loaded. */
export const isUnderRepair = (connection: SqliteConnection): boolean =>
  (getMeta(connection, 'mending') ?? 'false') !== 'false'
export const putUnderRepair = (connection: SqliteConnection, isUnderRepair: boolean): void =>
  putMeta(connection, 'mending', String(isUnderRepair))

export function getIdentity(connection: SqliteConnection, database?: Database): Identity | undefined {
  const text = getMeta(connection, 'identity', database)
  return text === undefined
    ? refuseLostRecord(connection, 'identity', database)
    : (parseIdentity(tryParseJson(text)) ?? unreadable('identity'))
}

/** Like `getIdentity`, but undefined also if the record is lost or damaged. */
export function readableIdentity(connection: SqliteConnection): Identity | undefined {
  const text = getMeta(connection, 'identity')
  return text === undefined ? undefined : parseIdentity(tryParseJson(text))
}

function parseIdentity(value: unknown): Identity | undefined {
  const { chainId, genesis, derivation } = toMembers(value) ?? {}
  return isCount(chainId) && typeof genesis === 'string' && genesis !== '' && isCount(derivation)
    ? { chainId, genesis, derivation }
    : undefined
}

export const putIdentity = (connection: SqliteConnection, { chainId, genesis, derivation }: Identity): void =>
  putMeta(connection, 'identity', JSON.stringify({ chainId, genesis, derivation }))

export function getOwner(connection: SqliteConnection): Owner | undefined {
  const text = getMeta(connection, 'writer')
  const { token, pid, since } = toMembers(text === undefined ? undefined : tryParseJson(text)) ?? {}
  return typeof token === 'string' && typeof pid === 'number' && typeof since === 'string'
    ? { token, pid, since }
    : undefined
}
export const putOwner = (connection: SqliteConnection, owner: Owner): void =>
  putMeta(connection, 'writer', JSON.stringify(owner))

export const putFingerprint = (connection: SqliteConnection): void => putMeta(connection, 'schema', fingerprint)

/** Throws 'conflict' when the file was made with a different schema. */
export function checkFingerprint(connection: SqliteConnection, name: string): void {
  const stored = getMeta(connection, 'schema')
  if (stored !== fingerprint) throw otherVersion(name, `schema ${stored}, but this process reads ${fingerprint}`)
}

/** Also throws when the documents were derived by other rules than `derivation`. */
export function checkVersion(connection: SqliteConnection, name: string, derivation: number | undefined): void {
  checkFingerprint(connection, name)
  requireDerivation(name, readableIdentity(connection), derivation)
}

/** Maximum wait for the write lock, milliseconds; then 'unavailable'. A batch takes seconds at most. */
const TIMEOUT_MS = 30_000

/**
 * Runs `work` as one transaction with the write lock, and waits for the lock without blocking the process.
 * After any failure nothing is stored. Errors of SQLite are thrown as Failure.
 */
export async function runTransaction<T>(
  connection: SqliteConnection,
  name: string,
  work: () => T | Promise<T>,
): Promise<T> {
  const { db } = connection
  try {
    await retryWhileBusy(name, () => db.run('BEGIN IMMEDIATE'))
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
export async function retryWhileBusy<T>(name: string, attempt: () => T): Promise<T> {
  const until = performance.now() + TIMEOUT_MS
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
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
