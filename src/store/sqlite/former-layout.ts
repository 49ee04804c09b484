import { TX_PLACES } from '#indices/position.ts'
import type { Connection } from './connection.ts'
import { columnList, perTable } from './rows.ts'
import { POSITION, quoted, type Table } from './tables.ts'

/**
 * Files of earlier versions found history by a column with the id as text, and had a running row number where this version
 * has the position. They are read only to derive them anew: `indices migrate` needs no node for that.
 */
const formerFiles = new WeakSet<Connection>()

/** Notes how the file of a connection is laid out: for a reader of files of any version. */
export const noteLayout = (connection: Connection): void => {
  // What is made of other columns is not in the list.
  const hasId = connection.row(`SELECT 1 FROM pragma_table_info('transactions') WHERE "name" = 'id'`)
  if (hasId !== undefined) formerFiles.add(connection)
}

export const isFormer = (connection: Connection): boolean => formerFiles.has(connection)

/** The cells of `columnList` by the id, in a file of the former layout. */
export const formerSql = perTable((table: Table) => {
  const [height = '', tx] = table.position.map(quoted)
  const number = tx === undefined ? height : `${height} * ${TX_PLACES} + ${tx}`
  const cells =
    table.key[0] === POSITION ? columnList(table).replace(quoted(POSITION), number) : columnList(table)
  return `SELECT ${cells} FROM ${quoted(table.name)} WHERE "id" = ?`
})
