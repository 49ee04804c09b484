import { blockId } from '#indices/position.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices } from '#indices/registry.ts'
import type { Rewrite } from '#store/port.ts'
import { inserter, upsert } from './commit.ts'
import type { Connection } from './connection.ts'
import { quoted, ROW, tableOf } from './tables.ts'

/** Puts documents right, within the caller's transaction. */
export const rewriteDocuments = (connection: Connection, { put, remove, unplace }: Rewrite): void => {
  for (const place of unplace) removePlace(connection, place)
  for (const { index, id } of remove) removeDocument(connection, index, id)
  for (const { index, doc } of put) {
    if (index.kind === 'state') upsert(connection, tableOf(index), doc)
    else {
      removeDocument(connection, index, doc.id)
      // A row at one of its places is not that place's: it is put right by itself.
      inserter(connection, index, { replace: true })(doc)
    }
  }
}

const removePlace = (connection: Connection, place: bigint): void => {
  const { places } = tableOf(records)
  if (places !== undefined) connection.statement(`DELETE FROM ${quoted(places)} WHERE "place" = ?`).run(place)
}

export const removeDocument = (connection: Connection, index: AnyIndex, id: string): void => {
  const { name, places } = tableOf(index)
  if (places !== undefined)
    for (const place of placesOfRow(connection, { name, places }, id)) removePlace(connection, place)
  connection.statement(`DELETE FROM ${quoted(name)} WHERE "id" = ?`).run(id)
}

/** Removes blocks above a height, and what belongs to them. */
export const removeHistoryAbove = (connection: Connection, height: number): void => {
  for (const index of historyIndices) {
    const { name } = tableOf(index)
    // Ids begin with the height, in twelve digits.
    const ids = connection.rows(`SELECT "id" FROM ${quoted(name)} WHERE "id" >= ?`, blockId(height + 1))
    for (const [id] of ids) removeDocument(connection, index, String(id))
  }
}

/** Places that point to a row, among those the row itself lists: the table of places has no index by row. */
const placesOfRow = (
  connection: Connection,
  { name, places }: { readonly name: string; readonly places: string },
  id: string,
): readonly bigint[] => {
  const [row, blob] =
    connection.row(`SELECT "${ROW}", "places" FROM ${quoted(name)} WHERE "id" = ?`, id) ?? []
  if (row === undefined || !(blob instanceof Uint8Array)) return []
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const said = Array.from({ length: blob.length >> 3 }, (_, at) => view.getBigInt64(at * 8))
  const sql = `SELECT 1 FROM ${quoted(places)} WHERE "place" = ? AND "row" = ?`
  return said.filter(place => connection.row(sql, place, row) !== undefined)
}
