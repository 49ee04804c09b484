import { formatId } from '#indices/position.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices } from '#indices/registry.ts'
import type { Rewrite } from '#store/port.ts'
import type { Cell } from './cell.ts'
import { historyRows, upsert } from './commit.ts'
import type { SqliteConnection } from './connection.ts'
import { idOfKey, keyCells, keyCondition, keyList } from './rows.ts'
import { createTable, quoted, ROW, type SqlTable } from './tables.ts'

/** Corrects documents, within the caller's transaction. */
export function rewriteDocuments(connection: SqliteConnection, { put, remove, unplace }: Rewrite): void {
  for (const place of unplace) removePlace(connection, place)
  for (const { index, id } of remove) removeDocument(connection, index, id)
  for (const { index, doc } of put) {
    if (index.kind === 'state') upsert(connection, createTable(index), doc)
    else {
      removeDocument(connection, index, doc.id)
      // If another row has one of its places, that row is wrong there and is corrected separately.
      const rows = historyRows(connection, index, { replace: true })
      rows.add(doc)
      rows.end()
    }
  }
}

function removePlace(connection: SqliteConnection, place: bigint): void {
  const { places } = createTable(records)
  if (places !== undefined) connection.statement(`DELETE FROM ${quoted(places)} WHERE "place" = ?`).run(place)
}

export function removeDocument(connection: SqliteConnection, index: AnyIndex, id: string): void {
  const table = createTable(index)
  const key = keyCells(table, id)
  if (key === undefined) return
  for (const place of placesOfRow(connection, table, key)) removePlace(connection, place)
  connection.statement(`DELETE FROM ${quoted(table.name)} WHERE ${keyCondition(table)}`).run(...key)
}

/** Removes blocks above a height, and their transactions and records. */
export function deleteHistory(connection: SqliteConnection, height: number): void {
  for (const index of historyIndices) {
    const table = createTable(index)
    const [column = ''] = table.key
    const [first = null] =
      keyCells(
        table,
        formatId(...([height + 1, 0, 0].slice(0, table.position.length) as Parameters<typeof formatId>)),
      ) ?? []
    const sql = `SELECT ${keyList(table)} FROM ${quoted(table.name)} WHERE ${quoted(column)} >= ?`
    for (const key of connection.rows(sql, first)) removeDocument(connection, index, idOfKey(table, key))
  }
}

/** Places that point to a row, among those that the row lists: the table of places has no index by row. */
function placesOfRow(connection: SqliteConnection, table: SqlTable, key: readonly Cell[]): readonly bigint[] {
  const { name, places } = table
  if (places === undefined) return []
  const [row, blob] =
    connection.row(`SELECT "${ROW}", "places" FROM ${quoted(name)} WHERE ${keyCondition(table)}`, ...key) ?? []
  if (row === undefined || !(blob instanceof Uint8Array)) return []
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const said = Array.from({ length: blob.length >> 3 }, (_, at) => view.getBigInt64(at * 8))
  const sql = `SELECT 1 FROM ${quoted(places)} WHERE "place" = ? AND "row" = ?`
  return said.filter(place => connection.row(sql, place, row) !== undefined)
}
