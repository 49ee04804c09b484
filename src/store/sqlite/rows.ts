import { Failure } from '#failure/failure.ts'
import type { FieldKind } from '#indices/fields.ts'
import { type Column, quoted, type Table } from './tables.ts'

/** The value of a cell; integers are read as bigint (`safeIntegers`). */
export type Cell = string | bigint | number | Uint8Array | null
type Doc = { readonly id: string } & Readonly<Record<string, unknown>>

const PLACE_BYTES = 8

/**
 * A document as the cells of its row: `id`, then the columns. Absent optional fields are NULL. Text is UTF-8: a lone
 * surrogate, which UTF-8 cannot carry, becomes U+FFFD (as on the chain itself). Throws Failure('defect') on a value
 * the field cannot hold, before anything is stored.
 */
export const toRow = (table: Table, doc: object): Cell[] => {
  const values = doc as Doc
  const cells: Cell[] = [values.id]
  for (const column of table.columns) {
    const value = values[column.name]
    if (value === undefined && column.optional) cells.push(null)
    else cells.push(toCell(table, column, value))
  }
  return cells
}

const toCell = (table: Table, { name, kind }: Column, value: unknown): Cell => {
  const cell = cellOf[kind](value)
  if (cell === undefined)
    throw new Failure(
      'defect',
      `${table.name}.${name}: ${String(value)} is not a ${kind} that can be stored.`,
    )
  return cell
}

const textCell = (value: unknown): Cell | undefined => (typeof value === 'string' ? value : undefined)

/** The cell of a value; undefined: the field cannot hold it. */
const cellOf: Readonly<Record<FieldKind, (value: unknown) => Cell | undefined>> = {
  keyword: textCell,
  text: textCell,
  long: value => (typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? value : undefined),
  int: value => (typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined),
  bool: value => (typeof value === 'boolean' ? Number(value) : undefined),
  json: value => (value === undefined ? undefined : toJsonText(value)),
  places: value => (Array.isArray(value) ? toBlob(value) : undefined),
}

/** Compact JSON; JSON.stringify writes lone surrogates as escapes, which would come back as they were. */
const toJsonText = (value: unknown): string => {
  const text = JSON.stringify(value)
  return /\\ud[89a-f]/.test(text)
    ? JSON.stringify(value, (_key, item) => (typeof item === 'string' ? item.toWellFormed() : item))
    : text
}

const toBlob = (places: readonly bigint[]): Uint8Array => {
  const bytes = new Uint8Array(places.length * PLACE_BYTES)
  const view = new DataView(bytes.buffer)
  for (const [at, place] of places.entries()) view.setBigInt64(at * PLACE_BYTES, place)
  return bytes
}

const fromBlob = (bytes: Uint8Array): readonly bigint[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length / PLACE_BYTES }, (_, at) => view.getBigInt64(at * PLACE_BYTES))
}

const fromCell: Readonly<Record<FieldKind, (cell: Cell) => unknown>> = {
  keyword: cell => cell,
  text: cell => cell,
  long: cell => cell,
  int: Number,
  bool: cell => cell !== 0n,
  json: cell => JSON.parse(cell as string),
  places: cell => fromBlob(cell as Uint8Array),
}

/** The document of a row read with `columnList`. */
export const toDoc = (table: Table, cells: readonly Cell[]): object => {
  const doc: Record<string, unknown> = { id: cells[0] }
  for (const [at, { name, kind }] of table.columns.entries()) {
    const cell = cells[at + 1]
    if (cell !== null && cell !== undefined) doc[name] = fromCell[kind](cell)
  }
  return doc
}

/** `id` and the columns, quoted, for a select or an insert; `of` names the table where two are joined. */
export const columnList = (table: Table, of?: string): string =>
  ['id', ...table.columns.map(({ name }) => name)]
    .map(name => (of === undefined ? quoted(name) : `${quoted(of)}.${quoted(name)}`))
    .join(', ')

/** Builds a statement's text once for each table: it is asked for with every row. */
export const perTable = (build: (table: Table) => string): ((table: Table) => string) => {
  const built = new Map<Table, string>()
  return table => {
    const known = built.get(table)
    if (known !== undefined) return known
    const sql = build(table)
    built.set(table, sql)
    return sql
  }
}
