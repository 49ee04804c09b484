import type { Index, Order } from '#indices/define.ts'
import type { Field, FieldKind } from '#indices/fields.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'

/** How an index is kept: one table, its columns in the order of the fields after `id`. */
export type Table = {
  readonly name: string
  readonly columns: readonly Column[]
  /** The table itself first, then its indexes and side tables; text exactly as SQLite keeps it. */
  readonly objects: readonly SchemaObject[]
  /** Name of the side table from place to row, when the index has places. */
  readonly places: string | undefined
}
export type Column = { readonly name: string; readonly kind: FieldKind; readonly optional: boolean }
export type SchemaObject = {
  readonly name: string
  readonly type: 'table' | 'index'
  readonly sql: string
}

/** Row number of tables that have one. Begins with an underscore: no field does. */
export const ROW = '_row'

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const orderIndexName = (table: string, order: string): string => `${table}.${order}`
export const fieldIndexName = (table: string, field: string): string => `${table}.${field}`

/** Condition of an order, in the same words for its partial index and its queries: SQLite compares them as such. */
export const positiveCondition = (order: Order): string | undefined =>
  order.positive === undefined
    ? undefined
    : `(${order.positive.map(field => `${quoted(field)} > 0`).join(' OR ')})`

/** `of`: the table's name in the query, where more than one has these columns. */
export const sortKeys = (order: Order, of?: string): string =>
  order.by
    .map(
      ([field, direction]) =>
        (of === undefined ? '' : `${quoted(of)}.`) + quoted(field) + (direction === 'desc' ? ' DESC' : ''),
    )
    .join(', ')

const sqlTypes: Readonly<Record<FieldKind, string>> = {
  keyword: 'TEXT',
  text: 'TEXT',
  long: 'INTEGER',
  int: 'INTEGER',
  bool: 'INTEGER',
  json: 'TEXT',
  // As they stand in the document, 8 bytes each; found through the side table.
  places: 'BLOB',
}

/** The table of an index. */
export const tableFor = (index: Index): Table => {
  const columns = Object.entries(index.fields).map(
    ([name, { kind, optional }]): Column => ({ name, kind, optional }),
  )
  const hasPlaces = columns.some(({ kind }) => kind === 'places')
  const places = hasPlaces ? `${index.name}.places` : undefined
  return {
    name: index.name,
    columns,
    places,
    objects: [
      { name: index.name, type: 'table', sql: tableSql(index, columns) },
      ...(places === undefined ? [] : [placesTable(places)]),
      ...Object.entries(index.orders).map(([name, order]) => orderIndex(index.name, name, order)),
      ...fieldIndexes(index),
    ],
  }
}

const tableSql = (index: Index, columns: readonly Column[]): string => {
  const fields = columns.map(
    ({ name, kind, optional }) => `${quoted(name)} ${sqlTypes[kind]}${optional ? '' : ' NOT NULL'}`,
  )
  return isClustered(index)
    ? `CREATE TABLE ${quoted(index.name)} ("id" TEXT NOT NULL PRIMARY KEY, ${fields.join(', ')}) STRICT, WITHOUT ROWID`
    : `CREATE TABLE ${quoted(index.name)} ("${ROW}" INTEGER PRIMARY KEY, "id" TEXT NOT NULL UNIQUE, ${fields.join(', ')}) STRICT`
}

/**
 * Rows inside the tree of their ids save a look-up and hold for rows below a twentieth of a page
 * (sqlite.org/withoutrowid.html): rankings and state without JSON of any length. History is appended by row number.
 */
const isClustered = ({ kind, orders, fields }: Index): boolean =>
  kind === 'state' &&
  (Object.keys(orders).length > 0 || !Object.values(fields).some(field => field.kind === 'json'))

/** Place → row number. The place is the row id of the side table, so a page of a list is one run of it. */
const placesTable = (name: string): SchemaObject => ({
  name,
  type: 'table',
  sql: `CREATE TABLE ${quoted(name)} ("place" INTEGER PRIMARY KEY, "row" INTEGER NOT NULL) STRICT`,
})

const orderIndex = (table: string, name: string, order: Order): SchemaObject => {
  const sorted = order.by.map(([field]) => field)
  // Fields of the condition too: SQLite may test them again, and must not look up rows it passes over for that.
  const tested = (order.positive ?? []).filter(field => !sorted.includes(field))
  const keys = [
    ...(order.group === undefined ? [] : [quoted(order.group)]),
    sortKeys(order),
    ...tested.map(quoted),
  ].join(', ')
  const condition = positiveCondition(order)
  return {
    name: orderIndexName(table, name),
    type: 'index',
    sql:
      `CREATE INDEX ${quoted(orderIndexName(table, name))} ON ${quoted(table)} (${keys})` +
      (condition === undefined ? '' : ` WHERE ${condition}`),
  }
}

/** Fields that are found by value: `finds`, and searched ones that no order serves (`next_due`). */
const fieldIndexes = (index: Index): readonly SchemaObject[] => {
  const ordered = new Set(
    Object.values(index.orders).flatMap(order => [
      order.group,
      ...(order.positive ?? []),
      ...order.by.map(([field]) => field),
    ]),
  )
  return Object.entries(index.fields)
    .filter(([name, field]) => index.finds.includes(name) || isSearchedAlone(field, ordered.has(name)))
    .map(([name, { optional }]) => ({
      name: fieldIndexName(index.name, name),
      type: 'index' as const,
      sql:
        `CREATE INDEX ${quoted(fieldIndexName(index.name, name))} ON ${quoted(index.name)} (${quoted(name)}, "id")` +
        (optional ? ` WHERE ${quoted(name)} IS NOT NULL` : ''),
    }))
}

const isSearchedAlone = (field: Field, isOrdered: boolean): boolean =>
  field.searched && field.kind !== 'places' && !isOrdered

const indices: readonly AnyIndex[] = [...historyIndices, ...stateIndices]
const tables: ReadonlyMap<string, Table> = new Map(indices.map(index => [index.name, tableFor(index)]))

export const tableOf = (index: Index): Table => {
  const table = tables.get(index.name)
  if (table === undefined) throw new TypeError(`No table is kept for ${index.name}.`)
  return table
}

/** The store's own records: identity, published height, schema, writer. */
const meta: SchemaObject = {
  name: 'meta',
  type: 'table',
  sql: 'CREATE TABLE "meta" ("key" TEXT NOT NULL PRIMARY KEY, "value" TEXT NOT NULL) STRICT, WITHOUT ROWID',
}
const keys: SchemaObject = {
  name: 'keys',
  type: 'table',
  sql: 'CREATE TABLE "keys" ("id" TEXT NOT NULL PRIMARY KEY, "hash" TEXT NOT NULL, "name" TEXT NOT NULL, "perSecond" INTEGER NOT NULL, "perDay" INTEGER NOT NULL, "created" INTEGER NOT NULL, "expires" INTEGER, "revoked" INTEGER) STRICT, WITHOUT ROWID',
}

/** Everything `create` makes, tables before what hangs on them. */
export const schema: readonly SchemaObject[] = [
  meta,
  keys,
  ...[...tables.values()].flatMap(({ objects }) => objects),
]

/** Changes whenever any table or index would be made differently. */
export const fingerprint: string = new Bun.CryptoHasher('sha256')
  .update(schema.map(({ sql }) => sql).join('\n'))
  .digest('hex')
