import type { FieldKind, Index, Order } from '#indices/define.ts'
import { TX_PLACES } from '#indices/list.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { type Follows, findFollows } from './packed/values.ts'

/** The table of an index. */
export type SqlTable = {
  readonly name: string
  /** The fields that are columns, in order; the others follow from the key. */
  readonly columns: readonly SqlColumn[]
  /** Columns that identify a row, in the same order as ids. */
  readonly key: readonly string[]
  /** Columns of the key that are not fields; they come before the fields. */
  readonly head: readonly string[]
  /** The fields that form an id of history. */
  readonly position: readonly string[]
  /** The table itself first, then its indexes and side tables; text exactly as SQLite stores it. */
  readonly objects: readonly SchemaObject[]
  /** Name of the side table from place to row, if the index has places. */
  readonly places: string | undefined
}
export type SqlColumn = {
  readonly name: string
  readonly kind: FieldKind
  readonly optional: boolean
  /** Whether the cell is the unconverted value. */
  readonly isPlain: boolean
  /** Computes the usual value of the field from the others; if it matches, the cell is NULL. */
  readonly follows: Follows | undefined
}
export type SchemaObject = { readonly name: string; readonly type: 'table' | 'index'; readonly sql: string }

/** Row number of tables that have one. The name begins with an underscore, which no field's name does. */
export const ROW = '_row'
/** Row number that is the position in the chain: the height, or height · 100,000 + transaction. */
export const POSITION = '_position'

export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const orderIndexName = (table: string, order: string): string => `${table}.${order}`
export const fieldIndexName = (table: string, field: string): string => `${table}.${field}`

/** Condition of an order, with the same text in its partial index and its queries: SQLite compares the text. */
export function formatCondition({ positive, where }: Order): string | undefined {
  const above =
    positive === undefined ? [] : [`(${positive.map(field => `${quoteIdentifier(field)} > 0`).join(' OR ')})`]
  const all = where === undefined ? above : [...above, `${quoteIdentifier(where)} = 1`]
  return all.length === 0 ? undefined : all.join(' AND ')
}

const conditionFields = ({ positive = [], where }: Order): readonly string[] =>
  where === undefined ? positive : [...positive, where]

/** `of`: the table's alias in the query, if several tables have these columns. */
export const sortKeys = (order: Order, of?: string): string =>
  order.by
    .map(
      ([field, direction]) =>
        (of === undefined ? '' : `${quoteIdentifier(of)}.`) +
        quoteIdentifier(field) +
        (direction === 'desc' ? ' DESC' : ''),
    )
    .join(', ')

const sqlTypes: Readonly<Record<FieldKind, string>> = {
  keyword: 'TEXT',
  text: 'TEXT',
  // Bytes or a number, or the text itself if it cannot be converted.
  hash: 'ANY',
  hashes: 'ANY',
  word: 'ANY',
  packed: 'ANY',
  digits: 'ANY',
  long: 'INTEGER',
  int: 'INTEGER',
  bool: 'INTEGER',
  json: 'TEXT',
  // Places in the order of the document, 8 bytes each; found through the side table.
  places: 'BLOB',
  hash8: 'INTEGER',
}

function buildTable(index: Index): SqlTable {
  const isNumbered = isPosition(index)
  const columns = Object.entries(index.fields)
    .map(
      ([name, { kind, optional }]): SqlColumn => ({
        name,
        kind,
        optional,
        isPlain: kind === 'keyword' || kind === 'text' || kind === 'long' || kind === 'hash8',
        follows: findFollows(index.name, name),
      }),
    )
    .filter(({ name }) => !isNumbered || !index.position.includes(name))
  const hasPlaces = columns.some(({ kind }) => kind === 'places')
  const places = hasPlaces ? `${index.name}.places` : undefined
  const key = isNumbered ? [POSITION] : index.kind === 'history' ? index.position : ['id']
  return {
    name: index.name,
    columns,
    key,
    head: key.filter(name => index.fields[name] === undefined),
    position: index.position,
    places,
    objects: [
      { name: index.name, type: 'table', sql: tableSql(index, columns) },
      ...(places === undefined ? [] : [{ name: places, type: 'table' as const, sql: placesSql(places) }]),
      ...Object.entries(index.orders).map(([name, order]) => orderIndex(index.name, name, order)),
      ...fieldIndexes(index),
    ],
  }
}

/** Whether the position in the chain is the row number: a record's position would not fit in 64 bits. */
const isPosition = ({ position }: Index): boolean => position.length === 1 || position.length === 2

function tableSql(index: Index, columns: readonly SqlColumn[]): string {
  const fields = columns
    .map(({ name, kind, optional, follows }) => {
      const mayLack = optional || follows !== undefined
      return `${quoteIdentifier(name)} ${sqlTypes[kind]}${mayLack ? '' : ' NOT NULL'}`
    })
    .join(', ')
  const made = (columnsAndKeys: string) => `CREATE TABLE ${quoteIdentifier(index.name)} (${columnsAndKeys}) STRICT`
  if (isPosition(index)) return made(`"${POSITION}" INTEGER PRIMARY KEY, ${positionColumns(index)}, ${fields}`)
  if (index.kind === 'history')
    return made(
      `"${ROW}" INTEGER PRIMARY KEY, ${idColumn(index)}, ${fields}, UNIQUE (${index.position.map(quoteIdentifier).join(', ')})`,
    )
  return isClustered(index)
    ? `${made(`"id" TEXT NOT NULL PRIMARY KEY, ${fields}`)}, WITHOUT ROWID`
    : made(`"${ROW}" INTEGER PRIMARY KEY, "id" TEXT NOT NULL UNIQUE, ${fields}`)
}

/** The id for human readers and their tools: it takes no space, and no program searches for it. */
function idColumn({ position }: Index): string {
  const digits = ['%012d', '%05d', '%05d'].slice(0, position.length).join('-')
  return `"id" TEXT AS (printf('${digits}', ${position.map(quoteIdentifier).join(', ')})) VIRTUAL`
}

function positionColumns(index: Index): string {
  const [height = '', tx] = index.position
  const parts =
    tx === undefined
      ? [[height, `"${POSITION}"`]]
      : [
          [height, `"${POSITION}" / ${TX_PLACES}`],
          [tx, `"${POSITION}" % ${TX_PLACES}`],
        ]
  return [
    ...parts.map(([name = '', sql]) => `${quoteIdentifier(name)} INTEGER AS (${sql}) VIRTUAL`),
    idColumn(index),
  ].join(', ')
}

/**
 * Clustered tables save a look-up and suit rows below a twentieth of a page (sqlite.org/withoutrowid.html):
 * rankings, and state without JSON of unbounded length.
 */
const isClustered = ({ kind, orders, fields }: Index): boolean =>
  kind === 'state' && (Object.keys(orders).length > 0 || !Object.values(fields).some(field => field.kind === 'json'))

/** Maps a place to a row number. The place is the side table's row id, so a page of a list is one range. */
const placesSql = (name: string): string =>
  `CREATE TABLE ${quoteIdentifier(name)} ("place" INTEGER PRIMARY KEY, "row" INTEGER NOT NULL) STRICT`

function orderIndex(table: string, name: string, order: Order): SchemaObject {
  const sorted = order.by.map(([field]) => field)
  // With the condition's fields: SQLite may test them again and must not look up skipped rows for that.
  const tested = conditionFields(order).filter(field => !sorted.includes(field))
  const keys = [
    ...(order.group === undefined ? [] : [quoteIdentifier(order.group)]),
    sortKeys(order),
    ...tested.map(quoteIdentifier),
  ].join(', ')
  const condition = formatCondition(order)
  return {
    name: orderIndexName(table, name),
    type: 'index',
    sql:
      `CREATE INDEX ${quoteIdentifier(orderIndexName(table, name))} ON ${quoteIdentifier(table)} (${keys})` +
      (condition === undefined ? '' : ` WHERE ${condition}`),
  }
}

/** Indexes of fields that are found by value: `finds`, and searched fields that no order covers (`next_due`). */
function fieldIndexes(index: Index): readonly SchemaObject[] {
  const ordered = new Set(
    Object.values(index.orders).flatMap(order => [
      order.group,
      ...conditionFields(order),
      ...order.by.map(([field]) => field),
    ]),
  )
  return Object.entries(index.fields)
    .filter(
      ([name, { searched, kind }]) =>
        index.finds.includes(name) || (searched && kind !== 'places' && !ordered.has(name)),
    )
    .filter(([name]) => name !== index.named || name === namesColumn(index))
    .map(([name, { optional }]) => ({
      name: fieldIndexName(index.name, name),
      type: 'index' as const,
      sql:
        `CREATE INDEX ${quoteIdentifier(fieldIndexName(index.name, name))} ON ${quoteIdentifier(index.name)} (${quoteIdentifier(name)}${isPosition(index) ? '' : ', "id"'})` +
        (optional ? ` WHERE ${quoteIdentifier(name)} IS NOT NULL` : ''),
    }))
}

/** Column of an index's names. If every document has a name, it is the id, which the table's key covers. */
export const namesColumn = ({ named, fields }: Index): string | undefined =>
  named !== undefined && fields[named]?.optional === true ? named : named && 'id'

const indices: readonly AnyIndex[] = [...historyIndices, ...stateIndices]
const indicesByName: ReadonlyMap<string, AnyIndex> = new Map(indices.map(index => [index.name, index]))
const tables: ReadonlyMap<string, SqlTable> = new Map(indices.map(index => [index.name, buildTable(index)]))

/** The index with a name that this program wrote. */
export function requireIndex(name: string): AnyIndex {
  const index = indicesByName.get(name)
  if (index === undefined) throw new TypeError(`No index is named '${name}'.`)
  return index
}

export function getTable(index: Index): SqlTable {
  const table = tables.get(index.name)
  if (table === undefined) throw new TypeError(`No table is kept for ${index.name}.`)
  return table
}

/** The store's own records: identity, published height, schema, writer. */
export const META: SchemaObject = {
  name: 'meta',
  type: 'table',
  sql: 'CREATE TABLE "meta" ("key" TEXT NOT NULL PRIMARY KEY, "value" TEXT NOT NULL) STRICT, WITHOUT ROWID',
}
const keys: SchemaObject = {
  name: 'keys',
  type: 'table',
  sql: 'CREATE TABLE "keys" ("id" TEXT NOT NULL PRIMARY KEY, "hash" TEXT NOT NULL, "name" TEXT NOT NULL, "perSecond" INTEGER NOT NULL, "perDay" INTEGER NOT NULL, "created" INTEGER NOT NULL, "expires" INTEGER, "revoked" INTEGER) STRICT, WITHOUT ROWID',
}

/** All objects that `create` makes, each table before its indexes and side tables. */
export const schema: readonly SchemaObject[] = [META, keys, ...[...tables.values()].flatMap(({ objects }) => objects)]

/** Raised when new cells cannot be read by an earlier version: another dictionary, more words (`packed`). */
const PACKING = 1

/** Changes whenever a definition of a table or index, or the encoding of cells, changes. */
export const fingerprint: string = new Bun.CryptoHasher('sha256')
  .update([...schema.map(({ sql }) => sql), PACKING].join('\n'))
  .digest('hex')
