import { Failure } from '#failure/failure.ts'
import { absentStore } from '#store/absent-store.ts'
import {
  createRevocation,
  type KeyPage,
  type KeyStore,
  nameWithNote,
  parseNameAndNote,
  type StoredKey,
} from '#store/keys-port.ts'
import type { Cell } from './cell.ts'
import { openReader, openWriter, type SqliteConnection } from './connection.ts'
import { changedKeysSince, lastKeyChange, noteKeyChanges } from './key-changes.ts'
import type { Readers } from './readers.ts'
import { salvageRows } from './salvage-keys.ts'
import { inspect } from './schema.ts'
import { inTransaction } from './transaction.ts'

/** Number of keys that one read returns: it takes some milliseconds, in which the thread answers no request. */
const PAGE = 1_000
const COLUMNS = '"id", "hash", "name", "perSecond", "perDay", "created", "expires", "revoked"'

/** Keys in the same file as the documents. A write waits for a busy loader and never disturbs it. */
export function createKeyStore(path: string, name: string, readers: Readers): KeyStore {
  /** undefined: there is no store. */
  const writing = async <T>(work: (connection: SqliteConnection) => T): Promise<T | undefined> => {
    const connection = openWriter(path, name)
    if (connection === undefined) return undefined
    try {
      return inspect(connection, name) === 'empty'
        ? undefined
        : await inTransaction(connection, name, () => {
            requireTable(connection, name)
            return work(connection)
          })
    } finally {
      connection.close()
    }
  }

  const change: KeyStore['change'] = async (id, terms) => {
    const changed = await writing(connection => {
      const [row] = connection.rows(`SELECT ${COLUMNS} FROM "keys" WHERE "id" = ?`, id)
      if (row === undefined) return false
      const { id: _, hash, created, ...now } = fromCells(row)
      connection
        .statement(`REPLACE INTO "keys" (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
        .run(...toCells({ ...terms(now), id, hash, created }))
      noteKeyChanges(connection, [id])
      return true
    })
    return changed === true
  }

  return {
    add: async (...keys) => {
      const added = await writing(connection => insertKeys(connection, keys))
      if (added === undefined)
        throw new Failure('conflict', `${name} is not created yet.`, {
          help: "Run 'iostlens indices create' first.",
        })
    },
    list: async signal => {
      const rows = await readers.readOnce(connection => {
        requireTable(connection, name)
        return connection.rows(`SELECT ${COLUMNS} FROM "keys" ORDER BY "created", "id"`)
      }, signal)
      return (rows ?? []).map(fromCells)
    },
    read: async (since, signal) => {
      const page = await readers.readOnce(connection => {
        requireTable(connection, name)
        return readPage(connection, since)
      }, signal)
      return page ?? { keys: [], isStart: true, isEnd: true, mark: undefined }
    },
    salvage: async () => salvageKeys(path, name),
    change,
    revoke: (id, now) => change(id, createRevocation(now)),
  }
}

/** Reads a file of any version and in any state, without the checks of other reads. */
function salvageKeys(path: string, name: string) {
  const connection = openReader(path, name)
  if (connection === undefined) throw absentStore(name)
  try {
    const { rows, isWhole } = salvageRows(connection, COLUMNS)
    return { keys: rows.map(fromCells), isWhole }
  } finally {
    connection.close()
  }
}

function insertKeys(connection: SqliteConnection, keys: readonly StoredKey[]): true {
  const insert = `INSERT INTO "keys" (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
  for (const key of keys)
    if (connection.statement(insert).run(...toCells(key)).changes === 0)
      throw new Failure('conflict', `A key with the id '${key.id}' already exists.`)
  noteKeyChanges(
    connection,
    keys.map(({ id }) => id),
  )
  return true
}

/**
 * Where a reader of keys is: the file, the last change before the first key was read, and the last id that was read;
 * without the id all keys were read, and the changes since follow.
 */
type KeyMark = readonly [file: string, token: string, after?: string]

function readPage(connection: SqliteConnection, since = ''): KeyPage {
  const file = `${connection.file.dev}/${connection.file.ino}`
  const [known, token = '', after] = since === '' ? [] : (JSON.parse(since) as KeyMark)
  if (known === file && after !== undefined) return readNext(connection, [file, token, after])
  const changed = known === file ? changedKeysSince(connection, token) : undefined
  if (changed === undefined) return readNext(connection, [file, lastKeyChange(connection), ''])
  const keys = changed.flatMap(id => connection.rows(`SELECT ${COLUMNS} FROM "keys" WHERE "id" = ?`, id).map(fromCells))
  return { keys, isStart: false, isEnd: true, mark: markText([file, lastKeyChange(connection)]) }
}

/** The next keys by id. Those that change meanwhile are read again after the last one. */
function readNext(connection: SqliteConnection, [file, token, after = '']: KeyMark): KeyPage {
  const sql = `SELECT ${COLUMNS} FROM "keys" WHERE "id" > ? ORDER BY "id" LIMIT ${PAGE}`
  const keys = connection.rows(sql, after).map(fromCells)
  const isStart = after === ''
  const last = keys.length === PAGE ? keys.at(-1) : undefined
  const mark: KeyMark = last === undefined ? [file, token] : [file, token, last.id]
  return { keys, isStart, isEnd: isStart && last === undefined, mark: markText(mark) }
}

const markText = (mark: KeyMark): string => JSON.stringify(mark)

/** Throws 'damaged' for a store that has lost its table of keys, which is not the same as having no keys. */
function requireTable(connection: SqliteConnection, name: string): void {
  if (connection.row(`SELECT 1 FROM sqlite_schema WHERE "type" = 'table' AND "name" = 'keys'`) === undefined)
    throw new Failure('damaged', `${name}: table keys is gone, and the API keys in it.`, {
      help: "Restore the file from a copy, or run 'iostlens load' with another --store and create new keys.",
    })
}

const toCells = (key: StoredKey): Cell[] => [
  key.id,
  key.hash,
  nameWithNote(key),
  ...[key.perSecond, key.perDay, key.created].map(BigInt),
  ...[key.expires, key.revoked].map(value => (value === undefined ? null : BigInt(value))),
]

const fromCells = ([id, hash, name, perSecond, perDay, created, expires, revoked]: readonly Cell[]): StoredKey => ({
  id: String(id),
  hash: String(hash),
  ...parseNameAndNote(String(name)),
  perSecond: Number(perSecond),
  perDay: Number(perDay),
  created: Number(created),
  ...(typeof expires === 'bigint' ? { expires: Number(expires) } : {}),
  ...(typeof revoked === 'bigint' ? { revoked: Number(revoked) } : {}),
})
