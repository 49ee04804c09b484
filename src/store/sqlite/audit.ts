import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { nothingLoaded } from '#store/failures.ts'
import type { Audit, PlacedRow, StoredDocument } from '#store/port.ts'
import { type Cell, FILE_DAMAGED, openReader, type SqliteConnection } from './connection.ts'
import { checkFingerprint, getPublished } from './meta.ts'
import { columnList, keyCells, keyCondition, keyList, perTable, toDoc, toDocumentId } from './rows.ts'
import { inspect } from './schema.ts'
import { getTable, quoteIdentifier, ROW, type SqlTable } from './tables.ts'
import { getById } from './view.ts'

/** Documents per page: transactions of some KB each make a page of some MB. */
const PAGE = 1_000n

/** All stored documents, in one read transaction. The log grows while it is open and a loader continues. */
export function openAudit(path: string, name: string): Audit {
  using opened = new DisposableStack()
  const connection = opened.use(openReader(path, name))
  if (connection === undefined || inspect(connection, name) === 'empty') throw nothingLoaded(name)
  checkFingerprint(connection, name)
  connection.db.run('BEGIN')
  const at = getPublished(connection)
  if (at === undefined) throw nothingLoaded(name)
  // From here on the caller closes it.
  opened.move()
  return {
    at,
    scan: index => scan(connection, name, index),
    getMany: async (index, ids) => ids.map(id => tryRead(() => getById(connection, index, id))) as never,
    existing: async (index, ids) => selectExisting(connection, index, ids),
    placed: async range => selectPlacedRows(connection, name, range),
    close: async () => connection.close(),
  }
}

const scanSql = perTable(
  table =>
    `SELECT ${keyList(table)}, ${columnList(table)} FROM ${quoteIdentifier(table.name)} WHERE (${keyList(table)}) > (?${', ?'.repeat(table.key.length - 1)})` +
    ` ORDER BY ${keyList(table)} LIMIT ${PAGE}`,
)
const scan = async function* <I extends AnyIndex>(
  connection: SqliteConnection,
  name: string,
  index: I,
): AsyncIterable<readonly StoredDocument<I>[]> {
  const table = getTable(index)
  const keys = table.key.length
  // Before all keys of the table.
  let after: readonly Cell[] = table.position.length === 0 ? [''] : table.key.map(() => -1n)
  for (;;) {
    const rows = connection.rows(scanSql(table), ...after)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(cells => ({
      id: requireRowId(name, table, cells.slice(0, keys)),
      doc: tryRead(() => toDoc(table, cells.slice(keys))) as DocOf<I>,
    }))
    after = last.slice(0, keys)
  }
}

/** Throws 'damaged' for a key that no document can have. */
function requireRowId(name: string, table: SqlTable, key: readonly Cell[]): string {
  try {
    return toDocumentId(table, key)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const message = `${name}: table ${table.name} has a row with the key ${key.join(', ')}.`
    throw new Failure('damaged', message, { help: FILE_DAMAGED })
  }
}

/** undefined: a cell cannot be read. */
function tryRead(read: () => object | undefined): object | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function selectExisting(connection: SqliteConnection, index: AnyIndex, ids: readonly string[]): ReadonlySet<string> {
  const table = getTable(index)
  const sql = `SELECT 1 FROM ${quoteIdentifier(table.name)} WHERE ${keyCondition(table)}`
  return new Set(
    ids.filter(id => {
      const key = keyCells(table, id)
      return key !== undefined && connection.row(sql, ...key) !== undefined
    }),
  )
}

const recordsTable = getTable(records)
/** Also returns places whose row is missing, with an empty id. */
const placedSql =
  `SELECT p."place", ${recordsTable.key.map(name => `r.${quoteIdentifier(name)}`).join(', ')} FROM ${quoteIdentifier(recordsTable.places ?? '')} AS p` +
  ` LEFT JOIN ${quoteIdentifier(recordsTable.name)} AS r ON r."${ROW}" = p."row"` +
  ' WHERE p."place" > ? AND p."place" <= ? ORDER BY p."place" LIMIT ?'

const selectPlacedRows = (
  connection: SqliteConnection,
  name: string,
  { after, until, limit }: Parameters<Audit['placed']>[0],
): readonly PlacedRow[] =>
  connection.rows(placedSql, after, until, BigInt(limit) + 1n).map(([place, ...key]: readonly Cell[]) => ({
    place: place as bigint,
    id: key[0] === null ? '' : requireRowId(name, recordsTable, key),
  }))
