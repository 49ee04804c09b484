import { Failure } from '#failure/failure.ts'
import { absentStore } from '#store/failures.ts'
import {
  createRevocation,
  type KeyPage,
  type KeyStore,
  nameWithNote,
  parseNameAndNote,
  type StoredKey,
} from '#store/keys-port.ts'
import { type Cell, openReader, openWriter, type SqliteConnection, undefinedIfDamaged } from './connection.ts'
import { getMeta, putMeta, runTransaction } from './meta.ts'
import type { Readers } from './readers.ts'
import { inspect } from './schema.ts'

/** Number of changes that are kept; who asks later than that reads all keys again. */
const KEPT = 1_000

/** The changes of keys, oldest first. A line has a random token, which no other file has, and the id of the key. */
const readLines = (connection: SqliteConnection): readonly string[] => getMeta(connection, 'keys')?.split('\n') ?? []

/** Notes that keys change, in the transaction that changes them. */
function noteKeyChanges(connection: SqliteConnection, ids: readonly string[]): void {
  const lines = ids.slice(-KEPT).map(id => `${crypto.randomUUID().slice(0, 18)} ${id}`)
  putMeta(connection, 'keys', [...readLines(connection), ...lines].slice(-KEPT).join('\n'))
}

/** The token of the last change; '' when none was noted yet. */
const readLastKeyChange = (connection: SqliteConnection): string => readLines(connection).at(-1)?.split(' ')[0] ?? ''

/** Ids of the keys that were changed after the change with this token; undefined: it is no longer known. */
function readChangedKeys(connection: SqliteConnection, token: string): readonly string[] | undefined {
  const lines = readLines(connection)
  const at = lines.findIndex(line => line.startsWith(`${token} `))
  const isKnown = token === '' ? lines.length < KEPT : at >= 0
  if (!isKnown) return undefined
  return [...new Set(lines.slice(token === '' ? 0 : at + 1).map(line => line.slice(line.indexOf(' ') + 1)))]
}

/** An id of a key begins with ten hexadecimal digits. */
const DIGITS = 10
const END = 16 ** DIGITS

/**
 * Reads the table of keys of a damaged file: the rows that can be read, and whether these are all. The table is a tree by
 * id: where a page of it cannot be read, the ids on it are passed over, and reading goes on at the first id behind them
 * that can be found.
 */
function salvageRows(connection: SqliteConnection) {
  const table = `SELECT ${COLUMNS} FROM "keys"`
  /** Rows from an id on; undefined: damaged. */
  const readFrom = (id: string, operator: '>' | '>=', limit: number): readonly Cell[][] | undefined =>
    undefinedIfDamaged(() => connection.rows(`${table} WHERE "id" ${operator} ? ORDER BY "id" LIMIT ${limit}`, id))
  /**
   * The first rows behind a damaged page; undefined: there are none. The row between two leaves is in a page above them,
   * and a search from below leads to the damaged leaf, so that row is found from the other side.
   */
  const readBehind = (at: string): readonly Cell[][] | undefined => {
    const from = Number.parseInt(at.slice(0, DIGITS) || '0', 16)
    const begin = findReadable(from, number => readFrom(formatKeyId(number), '>=', 1))
    const [first] = begin === undefined ? [] : (readFrom(formatKeyId(begin), '>=', 1) ?? [])
    if (first === undefined) return undefined
    const last = `${table} WHERE "id" < ? ORDER BY "id" DESC LIMIT 1`
    const between = undefinedIfDamaged(() => connection.rows(last, String(first[0]))) ?? []
    return [...between.filter(([id]) => String(id) > at), first]
  }
  const rows: (readonly Cell[])[] = []
  let isWhole = true
  for (let at = ''; ; at = String(rows.at(-1)?.[0] ?? '')) {
    const next = readFrom(at, '>', 100) ?? readFrom(at, '>', 1)
    isWhole &&= next !== undefined
    const found = next ?? readBehind(at)
    if (found === undefined || found.length === 0) return { rows, isWhole }
    rows.push(...found)
  }
}

/** The lowest number above `from` at which reading is possible again; undefined: nowhere. */
function findReadable(from: number, read: (number: number) => unknown): number | undefined {
  let step = 1
  while (from + step < END && read(from + step) === undefined) step *= 2
  let [bad, good] = [from + Math.floor(step / 2), Math.min(from + step, END)]
  if (good === END && read(END - 1) === undefined) return undefined
  while (good - bad > 1) {
    const middle = Math.floor((bad + good) / 2)
    if (read(middle) === undefined) bad = middle
    else good = middle
  }
  return good
}

const formatKeyId = (number: number): string => number.toString(16).padStart(DIGITS, '0')

/** Number of keys that one read returns: it takes some milliseconds, in which the thread answers no request. */
const PAGE = 1_000
const COLUMNS = '"id", "hash", "name", "perSecond", "perDay", "created", "expires", "revoked"'

/**
 * Keys in the same file as the documents. A write waits for a busy loader and never disturbs it. `mayWrite` throws when
 * writes are not allowed.
 */
export function createKeyStore(
  { path, name }: { readonly path: string; readonly name: string },
  readers: Readers,
  mayWrite: () => void,
): KeyStore {
  /** undefined: there is no store. */
  const writing = async <T>(work: (connection: SqliteConnection) => T): Promise<T | undefined> => {
    mayWrite()
    using connection = openWriter(path, name)
    if (connection === undefined || inspect(connection, name) === 'empty') return undefined
    return await runTransaction(connection, name, () => {
      requireTable(connection, name)
      return work(connection)
    })
  }
  const change: KeyStore['change'] = async (id, terms) => {
    const changed = await writing(connection => {
      const [row] = connection.rows(`SELECT ${COLUMNS} FROM "keys" WHERE "id" = ?`, id)
      if (row === undefined) return false
      const { id: _, hash, created, ...now } = toStoredKey(row)
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
        throw new Failure('conflict', `${name} is not created yet.`, { help: "Run 'iostlens indices create' first." })
    },
    list: async signal => {
      const rows = await readers.readOnce(connection => {
        requireTable(connection, name)
        return connection.rows(`SELECT ${COLUMNS} FROM "keys" ORDER BY "created", "id"`)
      }, signal)
      return (rows ?? []).map(toStoredKey)
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
  using connection = openReader(path, name)
  if (connection === undefined) throw absentStore(name)
  const { rows, isWhole } = salvageRows(connection)
  return { keys: rows.map(toStoredKey), isWhole }
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
  const changed = known === file ? readChangedKeys(connection, token) : undefined
  if (changed === undefined) return readNext(connection, [file, readLastKeyChange(connection), ''])
  const keys = changed.flatMap(id =>
    connection.rows(`SELECT ${COLUMNS} FROM "keys" WHERE "id" = ?`, id).map(toStoredKey),
  )
  return {
    keys,
    isStart: false,
    isEnd: true,
    mark: JSON.stringify([file, readLastKeyChange(connection)] satisfies KeyMark),
  }
}

/** The next keys by id. Those that change meanwhile are read again after the last one. */
function readNext(connection: SqliteConnection, [file, token, after = '']: KeyMark): KeyPage {
  const sql = `SELECT ${COLUMNS} FROM "keys" WHERE "id" > ? ORDER BY "id" LIMIT ${PAGE}`
  const keys = connection.rows(sql, after).map(toStoredKey)
  const isStart = after === ''
  const last = keys.length === PAGE ? keys.at(-1) : undefined
  const mark: KeyMark = last === undefined ? [file, token] : [file, token, last.id]
  return { keys, isStart, isEnd: isStart && last === undefined, mark: JSON.stringify(mark) }
}

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

const toStoredKey = ([id, hash, name, perSecond, perDay, created, expires, revoked]: readonly Cell[]): StoredKey => ({
  id: String(id),
  hash: String(hash),
  ...parseNameAndNote(String(name)),
  perSecond: Number(perSecond),
  perDay: Number(perDay),
  created: Number(created),
  ...(typeof expires === 'bigint' ? { expires: Number(expires) } : {}),
  ...(typeof revoked === 'bigint' ? { revoked: Number(revoked) } : {}),
})
