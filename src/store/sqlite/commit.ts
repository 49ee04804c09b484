import { blocks } from '#indices/block.ts'
import type { Index } from '#indices/define.ts'
import { formatId } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices, type StateChange, type StateIndex, stateIndices } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import type { Batch, Published, Rewrite } from '#store/port.ts'
import { yieldEventLoop } from '#time/clock.ts'
import { UNDO_LIMITS } from '../batch.ts'
import type { Cell, SqliteConnection } from './connection.ts'
import { fromText, getPublished, putPublished } from './meta.ts'
import { columnList, idOfKey, keyCells, keyCondition, keyList, perTable, toRow } from './rows.ts'
import { createTable, quoted, ROW, type SqlTable } from './tables.ts'

/** Writes a batch and publishes its end, within the caller's transaction. */
export async function writeBatch(connection: SqliteConnection, batch: Batch): Promise<void> {
  let count = 0
  // Rows written before other requests of the process get a turn: some 5 ms.
  const pause = (): Promise<void> | undefined => (++count % 1_000 === 0 ? yieldEventLoop() : undefined)
  for (const [index, docs] of [
    [blocks, batch.blocks],
    [transactions, batch.transactions],
    [records, batch.records],
  ] as const) {
    const rows = historyRows(connection, index)
    for (const doc of docs) {
      rows.add(doc)
      await pause()
    }
    rows.end()
  }
  for (const [index, docs] of changesByTable(batch.changes))
    for (const doc of docs) {
      upsert(connection, createTable(index), doc)
      await pause()
    }
  putPublished(connection, batch.end)
}

/**
 * The documents that a batch changes, by index and in the order of their ids. Neighbours in a table share a
 * page, so that writing takes half as long as in any other order.
 */
export function changesByTable(
  changes: readonly StateChange[],
): ReadonlyMap<StateIndex, readonly StateChange['doc'][]> {
  const tables = new Map<StateIndex, StateChange['doc'][]>()
  for (const { index, doc } of changes) {
    const docs = tables.get(index)
    if (docs === undefined) tables.set(index, [doc])
    else docs.push(doc)
  }
  for (const docs of tables.values()) docs.sort((a, b) => (a.id < b.id ? -1 : 1))
  return tables
}

const insertSql = (table: SqlTable): string =>
  `INSERT INTO ${quoted(table.name)} (${columnList(table)}) VALUES (?${', ?'.repeat(table.head.length + table.columns.length - 1)})`

/**
 * Writes history documents and their places; places may be written as late as `end`. With `replace`, a place that another
 * row has moves to the new row.
 */
export function historyRows(
  connection: SqliteConnection,
  index: Index,
  { replace = false } = {},
): { add(doc: object): void; end(): void } {
  const table = createTable(index)
  const insert = connection.statement(insertSql(table))
  if (table.places === undefined) return { add: doc => void insert.run(...toRow(table, doc)), end: () => undefined }
  const placed = placeRows(connection, table.places, { replace })
  return {
    add: doc => {
      const { lastInsertRowid } = insert.run(...toRow(table, doc))
      placed.add((doc as { readonly places: readonly bigint[] }).places, BigInt(lastInsertRowid))
    },
    end: placed.end,
  }
}

export function upsert(connection: SqliteConnection, table: SqlTable, doc: object): void {
  upsertCells(connection, table, toRow(table, doc))
}

function upsertCells(connection: SqliteConnection, table: SqlTable, cells: readonly Cell[]): void {
  connection.statement(upsertSql(table)).run(...cells)
}

const upsertSql = perTable(table => {
  const set = table.columns.map(({ name }) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ')
  return `${insertSql(table)} ON CONFLICT ("id") DO UPDATE SET ${set}`
})

/** Rows per statement. More are not cheaper. */
const TOGETHER = 8

/** `near`: the place as a double, which distinguishes nearly all places at a fraction of the time. */
type PlaceRow = { readonly near: number; readonly place: bigint; readonly row: bigint }

/**
 * Writes rows of a table of places, several at once, in the order of the table; `end` writes the remaining ones. A row's
 * lists are far apart in the table, but those of a thousand rows are close together. Sorted, with eight places per
 * statement, they take 0.4 times as long as one by one. With `replace`, a place that another row has moves to the new
 * row; if several new rows have it, the last one gets it.
 */
export function placeRows(
  connection: SqliteConnection,
  table: string,
  { replace }: { readonly replace: boolean },
): { add(places: readonly bigint[], row: bigint): void; end(): void } {
  const verb = replace ? 'INSERT OR REPLACE' : 'INSERT'
  const statementOf = (rows: number) =>
    connection.statement(`${verb} INTO ${quoted(table)} ("place", "row") VALUES (?, ?)${', (?, ?)'.repeat(rows - 1)}`)
  const [several, one] = [statementOf(TOGETHER), statementOf(1)]
  let collected: PlaceRow[] = []
  const end = (): void => {
    const sorted = collected.sort((a, b) => a.near - b.near || (a.place < b.place ? -1 : Number(a.place > b.place)))
    collected = []
    const whole = sorted.length - (sorted.length % TOGETHER)
    const cells: bigint[] = []
    for (let at = 0; at < whole; at += 1) {
      const { place, row } = sorted[at] as PlaceRow
      cells.push(place, row)
      if (cells.length < 2 * TOGETHER) continue
      several.run(...cells)
      cells.length = 0
    }
    for (const { place, row } of sorted.slice(whole)) one.run(place, row)
  }
  return {
    add: (places, row) => {
      for (const place of places) collected.push({ near: Number(place), place, row })
      // Some 4 ms.
      if (collected.length >= 2_000) end()
    },
    end,
  }
}

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

function removeDocument(connection: SqliteConnection, index: AnyIndex, id: string): void {
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
    const position = [height + 1, 0, 0].slice(0, table.position.length) as Parameters<typeof formatId>
    const [first = null] = keyCells(table, formatId(...position)) ?? []
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

/**
 * Previous documents of the last batches, by the height at which each batch ends, for reverting batches. The table is
 * not part of the schema: a store without it is complete, and the first loader of this version creates it.
 */
const SQL = {
  create:
    'CREATE TABLE IF NOT EXISTS "undo" ("height" INTEGER PRIMARY KEY, "before" TEXT NOT NULL, "bytes" INTEGER NOT NULL, "documents" TEXT NOT NULL) STRICT',
  put: 'INSERT OR REPLACE INTO "undo" VALUES (?, ?, ?, ?)',
  clear: 'DELETE FROM "undo"',
  last: 'SELECT max("height") FROM "undo"',
  bytes: 'SELECT coalesce(sum("bytes"), 0) FROM "undo"',
  trim: 'DELETE FROM "undo" WHERE "height" <= ?',
  removeFirst: 'DELETE FROM "undo" WHERE "height" = (SELECT min("height") FROM "undo")',
  newest: 'SELECT "height", "before", "documents" FROM "undo" ORDER BY "height" DESC LIMIT 1',
  remove: 'DELETE FROM "undo" WHERE "height" = ?',
} as const

export const createUndo = ({ db }: SqliteConnection): void => void db.run(SQL.create)

/** Deletes all kept batches, so that no batch can be reverted. */
export const clearUndo = ({ db }: SqliteConnection): void => void db.run(SQL.clear)

/** End of the last batch, if it is kept. */
export function findUndoHeight(connection: SqliteConnection): number | undefined {
  const height = connection.row(SQL.last)?.[0]
  return typeof height === 'bigint' ? Number(height) : undefined
}

/**
 * Keeps the documents that a batch replaces, and deletes old ones, within the batch's transaction. `before`: the record of
 * the end before the batch, as text; undefined: there was none.
 */
export function keepUndo(
  connection: SqliteConnection,
  batch: Pick<Batch, 'first' | 'end' | 'changes'>,
  before: string | undefined,
): void {
  const { first, end } = batch
  const isUndoable = first > 0 && end.lib - end.height <= UNDO_LIMITS.near
  const documents = isUndoable ? formatUndo(batch.changes) : undefined
  if (before === undefined || documents === undefined || documents.length > UNDO_LIMITS.batchBytes) {
    clearUndo(connection)
    return
  }
  const bytes = BigInt(documents.length)
  connection.statement(SQL.put).run(BigInt(end.height), before, bytes, documents)
  connection.statement(SQL.trim).run(BigInt(end.height - UNDO_LIMITS.heights))
  while (Number(connection.row(SQL.bytes)?.[0] ?? 0n) > UNDO_LIMITS.bytes) connection.db.run(SQL.removeFirst)
}

/** A previous document: the index, its id, its cells; without cells there was none. */
type UndoEntry = readonly [index: string, id: string, cells?: readonly (string | null)[]]

const formatUndo = (changes: readonly StateChange[]): string =>
  JSON.stringify(
    changes.map(({ index, doc, before }): UndoEntry => {
      if (before === undefined) return [index.name, doc.id]
      return [index.name, doc.id, toRow(createTable(index), before).map(writeCell)]
    }),
  )

/** Prefixes mark texts and bytes. */
function writeCell(cell: Cell): string | null {
  if (cell === null) return null
  if (typeof cell === 'string') return `"${cell}`
  return cell instanceof Uint8Array ? `x${Buffer.from(cell).toString('base64')}` : String(cell)
}
function readCell(text: string | null): Cell {
  if (text === null) return null
  if (text.startsWith('"')) return text.slice(1)
  return text.startsWith('x') ? Buffer.from(text.slice(1), 'base64') : BigInt(text)
}

const byName = new Map<string, StateIndex>(stateIndices.map(index => [index.name, index]))

/**
 * Reverts batches until the end is at `height` or below, within the caller's transaction. undefined: the kept
 * batches do not reach that far, and nothing was changed.
 */
export function takeBack(connection: SqliteConnection, height: number): Published | undefined {
  let end = getPublished(connection)
  if (end === undefined || findUndoHeight(connection) !== end.height)
    return end && end.height <= height ? end : undefined
  const { db } = connection
  const undo = (): undefined => {
    db.run('ROLLBACK TO back')
    db.run('RELEASE back')
  }
  db.run('SAVEPOINT back')
  while (end.height > height) {
    const reverted = revertLast(connection, end.height)
    end = reverted && fromText(reverted.before)
    if (end === undefined) return undo()
  }
  deleteHistory(connection, end.height)
  putPublished(connection, end)
  db.run('RELEASE back')
  return end
}

/**
 * Reverts the last kept batch, which must end at `height`, within the caller's transaction; history stays. Returns the
 * record of the end before it, and its documents. undefined: that batch is not kept.
 */
export function revertLast(
  connection: SqliteConnection,
  height: number,
): { readonly before: string; readonly changed: readonly (readonly [StateIndex, string])[] } | undefined {
  const [last, before, documents] = connection.row(SQL.newest) ?? []
  if (last !== BigInt(height)) return undefined
  const all = JSON.parse(String(documents)) as readonly UndoEntry[]
  for (const [name, id, cells] of all) {
    const index = indexNamed(name)
    if (cells === undefined) removeDocument(connection, index, id)
    else upsertCells(connection, createTable(index), cells.map(readCell))
  }
  connection.statement(SQL.remove).run(last)
  return { before: String(before), changed: all.map(([name, id]) => [indexNamed(name), id]) }
}

export function indexNamed(name: string): StateIndex {
  const index = byName.get(name)
  if (index === undefined) throw new TypeError(`The undo data names an unknown index '${name}'.`)
  return index
}
