import type { Index } from '#indices/define.ts'
import { LAST_NAME } from '#indices/standing.ts'
import type { SqliteConnection } from './connection.ts'
import { columnList, toDoc } from './rows.ts'
import { createTable, namesColumn, quoted, type SqlTable } from './tables.ts'

/** Documents whose names begin with a text, by name: one range of the index of names. */
export function namedRows(
  connection: SqliteConnection,
  index: Index,
  { text, limit }: { readonly text: string; readonly limit: number },
): readonly object[] {
  const table = createTable(index)
  const rows = connection.rows(namesSql(table, namesColumn(index) ?? 'id'), text, text + LAST_NAME, BigInt(limit))
  return rows.map(cells => toDoc(table, cells))
}

/** Parameters: a text, the end of the names with that prefix, and a limit. */
export const namesSql = (table: SqlTable, column: string): string =>
  `SELECT ${columnList(table)} FROM ${quoted(table.name)}` +
  ` WHERE ${quoted(column)} >= ? AND ${quoted(column)} < ? ORDER BY ${quoted(column)} LIMIT ?`
