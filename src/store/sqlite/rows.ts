import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { FieldKind } from '#indices/define.ts'
import { formatId, idLength, parseIdPart, parsePosition, TX_PLACES } from '#indices/list.ts'
import { missingData } from '#store/failures.ts'
import type { Cell, FormerLayout, SqliteConnection } from './connection.ts'
import { packText, unpackText } from './packed/text.ts'
import {
  type DocFields,
  findWordNumber,
  isHashes,
  packDigits,
  packHash,
  packHashes,
  unpackDigits,
  unpackHash,
  unpackHashes,
  WORDS,
} from './packed/values.ts'
import { POSITION, quoteIdentifier, type SqlColumn, type SqlTable } from './tables.ts'

const PLACE_BYTES = 8

/**
 * A document as the cells of its row, in the order of `columnList`. Absent optional fields are NULL, and so are fields
 * that follow from others. Text is UTF-8: a lone surrogate, which UTF-8 cannot encode, becomes U+FFFD (as on the chain
 * itself). Throws Failure('defect') on a value that the field cannot hold, before anything is stored.
 */
export function toRow(table: SqlTable, doc: object): Cell[] {
  const values = doc as DocFields
  const cells = headCells(table, values)
  for (const column of table.columns) {
    const value = values[column.name]
    const isLeftOut =
      value === undefined ? column.optional : column.follows !== undefined && column.follows(values) === value
    const cell = isLeftOut ? null : cellOf[column.kind](value)
    if (cell === undefined) throw notStorable(table, column, value)
    cells.push(cell)
  }
  return cells
}

const notStorable = (table: SqlTable, { name, kind }: SqlColumn, value: unknown): Failure =>
  new Failure('defect', `${table.name}.${name}: ${String(value)} is not a ${kind} that can be stored.`)

const int64Cell = (value: unknown): Cell | undefined =>
  typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? value : undefined

const textCell = (value: unknown): Cell | undefined => (typeof value === 'string' ? value : undefined)

/** The cell of a value; undefined: the field cannot hold it. */
const cellOf: Readonly<Record<FieldKind, (value: unknown) => Cell | undefined>> = {
  keyword: textCell,
  text: textCell,
  hash: value => (typeof value === 'string' ? (packHash(value) ?? value) : undefined),
  hashes: value => (typeof value === 'string' ? (packHashes(value) ?? value) : undefined),
  word: value => (typeof value === 'string' ? (findWordNumber(value) ?? value) : undefined),
  packed: value => (typeof value === 'string' ? packText(value) : undefined),
  digits: value => (typeof value === 'string' ? packDigits(value) : undefined),
  long: int64Cell,
  int: value => (typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined),
  bool: value => (typeof value === 'boolean' ? Number(value) : undefined),
  json: value => (value === undefined ? undefined : toJsonText(value)),
  places: value => (Array.isArray(value) ? toBlob(value) : undefined),
  hash8: int64Cell,
}

/** Compact JSON. JSON.stringify would write lone surrogates as escapes, and these would survive reading. */
function toJsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return /\\ud[89a-f]/.test(text)
    ? JSON.stringify(value, (_key, item) => (typeof item === 'string' ? item.toWellFormed() : item))
    : text
}

function toBlob(places: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(places.length * PLACE_BYTES)
  const view = new DataView(bytes.buffer)
  for (const [at, place] of places.entries()) view.setBigInt64(at * PLACE_BYTES, place)
  return bytes
}

/** The whole places in the cell of a document's places, which may be damaged. */
export function parsePlaces(bytes: Uint8Array): readonly bigint[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: Math.floor(bytes.length / PLACE_BYTES) }, (_, at) => view.getBigInt64(at * PLACE_BYTES))
}

const FROM_BYTES: Readonly<Partial<Record<FieldKind, (bytes: Uint8Array) => unknown>>> = {
  places: bytes => (bytes.length % PLACE_BYTES === 0 ? parsePlaces(bytes) : undefined),
  hash: unpackHash,
  packed: unpackText,
  digits: unpackDigits,
}

/**
 * The value of a cell that is not plain; undefined: this program does not write such a cell. The bytes of `hashes` are left
 * to `deferHashes`.
 */
function unpackCell(kind: FieldKind, cell: Exclude<Cell, null>): unknown {
  if (cell instanceof Uint8Array) return FROM_BYTES[kind]?.(cell)
  if (kind === 'int') return Number(cell)
  if (kind === 'bool') return cell !== 0n
  if (kind === 'json') return tryParseJson(cell as string)
  if (kind === 'word' && typeof cell === 'bigint') return WORDS[Number(cell)]
  return typeof cell === 'string' ? cell : undefined
}

/** The document of a row read with `columnList`. Throws 'damaged' if a cell cannot be read. */
export function toDoc(table: SqlTable, cells: readonly Cell[]): object {
  const { columns, head } = table
  const doc: Record<string, unknown> = head.length === 0 ? {} : headFields(table, cells)
  let isImplied = false
  // Takes half the time of an iterator over the columns; a page has some 300 cells.
  for (let at = 0; at < columns.length; at++) {
    const column = columns[at] as SqlColumn
    const cell = cells[head.length + at]
    if (cell === null || cell === undefined) {
      isImplied ||= column.follows !== undefined
      continue
    }
    if (column.kind === 'hashes' && isHashes(cell)) {
      deferHashes(doc, column.name, cell)
      continue
    }
    const value = column.isPlain ? cell : unpackCell(column.kind, cell)
    if (value === undefined) throw unreadable(table, doc, column)
    doc[column.name] = value
  }
  if (head.length === 0) doc['id'] = formatRowId(table, doc)
  if (isImplied) addImplied(table, doc)
  return doc
}

/** Hashes are decoded when they are first read: lists of full blocks would decode thousands that they do not show. */
function deferHashes(doc: Record<string, unknown>, name: string, bytes: Uint8Array): void {
  const shared = { enumerable: true, configurable: true }
  const get = (): string => {
    const value = unpackHashes(bytes)
    Object.defineProperty(doc, name, { ...shared, writable: true, value })
    return value
  }
  Object.defineProperty(doc, name, { ...shared, get })
}

function addImplied(table: SqlTable, doc: Record<string, unknown>): void {
  for (const column of table.columns) {
    if (column.follows === undefined || Object.hasOwn(doc, column.name)) continue
    const value = column.follows(doc)
    if (value === undefined) throw unreadable(table, doc, column)
    doc[column.name] = value
  }
}

/** The id according to the fields of a position with all three parts. */
const formatRowId = ({ position: [height = '', tx = '', index = ''] }: SqlTable, doc: DocFields): string =>
  formatId(doc[height] as number, doc[tx] as number | undefined, doc[index] as number | undefined)

const unreadable = (table: SqlTable, doc: DocFields, { name }: SqlColumn): Failure =>
  missingData(`Field '${name}' of ${table.name} '${doc['id'] ?? formatRowId(table, doc)}' cannot be read.`)

/** A position as one number: the height, or height · `TX_PLACES` + transaction. */
const toRowNumber = ([height = 0, tx]: readonly number[]): bigint =>
  tx === undefined ? BigInt(height) : BigInt(height) * BigInt(TX_PLACES) + BigInt(tx)

type Position = Parameters<typeof formatId>

const toPosition = (table: SqlTable, number: bigint): Position =>
  table.position.length === 1
    ? [Number(number)]
    : [Number(number / BigInt(TX_PLACES)), Number(number % BigInt(TX_PLACES))]

/** Whether the row number is the position, so that the position's fields are not columns. */
const isNumbered = ({ key }: SqlTable): boolean => key[0] === POSITION

/** The cells of `SqlTable.head` for a document. Throws 'defect' if its id does not match its position. */
function headCells(table: SqlTable, doc: Readonly<Record<string, unknown>>): Cell[] {
  if (table.position.length === 0) return [doc['id'] as string]
  if (!isAtPosition(table, doc))
    throw new Failure(
      'defect',
      `${table.name}: '${doc['id']}' is not the id of the position ${table.position.map(name => doc[name])}.`,
    )
  if (!isNumbered(table)) return []
  const [height = '', tx] = table.position
  return [toRowNumber(tx === undefined ? [doc[height] as number] : [doc[height] as number, doc[tx] as number])]
}

/** Whether a document's id matches its position. Allocates nothing, because every written row is checked. */
function isAtPosition({ position }: SqlTable, doc: DocFields): boolean {
  const id = doc['id'] as string
  if (id.length !== idLength(position.length)) return false
  for (let part = 0; part < position.length; part += 1)
    if (parseIdPart(id, part) !== doc[position[part] ?? '']) return false
  return true
}

function headFields(table: SqlTable, cells: readonly Cell[]): Record<string, unknown> {
  if (table.position.length === 0) return { id: cells[0] }
  const [height, tx] = toPosition(table, cells[0] as bigint)
  const [first = '', second] = table.position
  return second === undefined
    ? { id: formatId(height), [first]: height }
    : { id: formatId(height, tx), [first]: height, [second]: tx }
}

/** The columns of the key as a list, for an order or for a comparison with as many cells. */
export const keyList = ({ key }: SqlTable): string => key.map(quoteIdentifier).join(', ')

/** Condition that selects one row by the cells of `keyCells`. */
export const keyCondition = ({ key }: SqlTable): string => key.map(name => `${quoteIdentifier(name)} = ?`).join(' AND ')

/** The cells of the key for an id; undefined: no row can have such an id. */
export function keyCells(table: SqlTable, id: string): Cell[] | undefined {
  if (table.position.length === 0) return [id]
  const position = parsePosition(id)
  if (position?.length !== table.position.length) return undefined
  return isNumbered(table) ? [toRowNumber(position)] : position.map(BigInt)
}

export const toDocumentId = (table: SqlTable, cells: readonly Cell[]): string =>
  table.position.length === 0
    ? String(cells[0])
    : formatId(...(isNumbered(table) ? toPosition(table, cells[0] as bigint) : (cells.map(Number) as Position)))

/** The columns of a row, quoted, for a select or an insert; `of` is the table's alias in a join. */
export const columnList = (table: SqlTable, of?: string): string =>
  [...table.head, ...table.columns.map(({ name }) => name)]
    .map(name => (of === undefined ? quoteIdentifier(name) : `${quoteIdentifier(of)}.${quoteIdentifier(name)}`))
    .join(', ')

/** Builds a statement's text once per table, because every row needs it. */
export function perTable(build: (table: SqlTable) => string): (table: SqlTable) => string {
  const built = new Map<SqlTable, string>()
  return table => {
    const known = built.get(table)
    if (known !== undefined) return known
    const sql = build(table)
    built.set(table, sql)
    return sql
  }
}

/**
 * Files of earlier versions are read only to derive their documents again, so that `indices migrate` needs no
 * node. The first versions found history by a text column with the id, and had a sequential row number in
 * place of the position. Optional fields that were added later have no column in older files.
 */
export function noteLayout(connection: SqliteConnection): void {
  // Generated columns are not in the list.
  const hasId = connection.row(`SELECT 1 FROM pragma_table_info('transactions') WHERE "name" = 'id'`)
  connection.layout = { hasIds: hasId !== undefined, selects: new Map() }
}

/** The row of a document in a file of an earlier version. */
export function formerRow(connection: SqliteConnection, table: SqlTable, id: string): Cell[] | undefined {
  const { layout } = connection
  const key = layout?.hasIds ? [id] : keyCells(table, id)
  if (layout === undefined || key === undefined) return undefined
  const sql = layout.selects.get(table) ?? buildFormerSelect(connection, table, layout)
  layout.selects.set(table, sql)
  return connection.row(sql, ...key)
}

function buildFormerSelect(connection: SqliteConnection, table: SqlTable, { hasIds }: FormerLayout): string {
  const there = new Set(connection.rows(`SELECT "name" FROM pragma_table_xinfo('${table.name}')`).map(([name]) => name))
  const [height = '', tx] = table.position.map(quoteIdentifier)
  const position = tx === undefined ? height : `${height} * ${TX_PLACES} + ${tx}`
  const head = table.head.map(name => (hasIds && name === POSITION ? position : quoteIdentifier(name)))
  const columns = table.columns.map(({ name, optional }) =>
    optional && !there.has(name) ? 'NULL' : quoteIdentifier(name),
  )
  const where = hasIds ? '"id" = ?' : keyCondition(table)
  return `SELECT ${[...head, ...columns].join(', ')} FROM ${quoteIdentifier(table.name)} WHERE ${where}`
}
