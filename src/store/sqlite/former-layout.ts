import { TX_PLACES } from '#indices/position.ts'
import type { Cell } from './cell.ts'
import type { FormerLayout, SqliteConnection } from './connection.ts'
import { keyCells, keyCondition } from './rows.ts'
import { POSITION, quoted, type SqlTable } from './tables.ts'

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

/** Reads the cells of `columnList`. */
function buildFormerSelect(connection: SqliteConnection, table: SqlTable, { hasIds }: FormerLayout): string {
  const there = new Set(connection.rows(`SELECT "name" FROM pragma_table_xinfo('${table.name}')`).map(([name]) => name))
  const [height = '', tx] = table.position.map(quoted)
  const position = tx === undefined ? height : `${height} * ${TX_PLACES} + ${tx}`
  const head = table.head.map(name => (hasIds && name === POSITION ? position : quoted(name)))
  const columns = table.columns.map(({ name, optional }) => (optional && !there.has(name) ? 'NULL' : quoted(name)))
  const where = hasIds ? '"id" = ?' : keyCondition(table)
  return `SELECT ${[...head, ...columns].join(', ')} FROM ${quoted(table.name)} WHERE ${where}`
}
