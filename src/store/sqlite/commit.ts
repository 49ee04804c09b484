import { blocks } from '#indices/block.ts'
import type { Index } from '#indices/define.ts'
import { formatId } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices, type StateChange, type StateIndex } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import type { Batch, Published, Rewrite } from '#store/port.ts'
import { yieldEventLoop } from '#time/clock.ts'
import { UNDO_LIMITS } from '../batch.ts'
import type { Cell, SqliteConnection } from './connection.ts'
import { getPublished, parsePublished, putPublished } from './meta.ts'
import { columnList, keyCells, keyCondition, keyList, parsePlaces, perTable, toDocumentId, toRow } from './rows.ts'
import { getTable, quoteIdentifier, ROW, requireIndex, type SqlTable } from './tables.ts'

/** Documents that are written together: some 5 ms, after which other requests of the process get a turn. */
const SLICE = 1_000

/** Writes a batch and publishes its end, within the caller's transaction. */
export async function writeBatch(connection: SqliteConnection, batch: Batch): Promise<void> {
  let written = 0
  for (const [index, docs] of sliceBatch(batch)) {
    if (written + docs.length > SLICE) {
      await yieldEventLoop()
      written = 0
    }
    writeDocuments(connection, index, docs)
    written += docs.length
  }
  putPublished(connection, batch.end)
}

/**
 * All documents of a batch in the order of writing. Those of state are in the order of their ids: neighbours in a table
 * share a page, so that writing takes half as long as in any other order.
 */
export function* sliceBatch(batch: Batch): Generator<readonly [AnyIndex, readonly object[]], void, void> {
  yield* slice(blocks, batch.blocks)
  yield* slice(transactions, batch.transactions)
  yield* slice(records, batch.records)
  for (const [index, changes] of Map.groupBy(batch.changes, change => change.index))
    yield* slice(
      index,
      changes.map(({ doc }) => doc).sort((a, b) => (a.id < b.id ? -1 : 1)),
    )
}

function* slice(
  index: AnyIndex,
  docs: readonly object[],
): Generator<readonly [AnyIndex, readonly object[]], void, void> {
  for (let at = 0; at < docs.length; at += SLICE) yield [index, docs.slice(at, at + SLICE)]
}

/** Writes new documents of history, and documents of state in place of any with the same id. */
export function writeDocuments(connection: SqliteConnection, index: AnyIndex, docs: readonly object[]): void {
  if (index.kind === 'history') insertHistory(connection, { index, replace: false }, docs)
  else for (const doc of docs) upsert(connection, index, doc)
}

const insertSql = perTable(
  table =>
    `INSERT INTO ${quoteIdentifier(table.name)} (${columnList(table)}) VALUES (?${', ?'.repeat(table.head.length + table.columns.length - 1)})`,
)

/** Writes history documents and their places. With `replace`, a place that another row has moves to the new row. */
function insertHistory(
  connection: SqliteConnection,
  { index, replace }: { readonly index: Index; readonly replace: boolean },
  docs: readonly object[],
): void {
  const table = getTable(index)
  const insert = connection.statement(insertSql(table))
  const placed: PlaceRow[] = []
  for (const doc of docs) {
    const { lastInsertRowid } = insert.run(...toRow(table, doc))
    if (table.places === undefined) continue
    const row = BigInt(lastInsertRowid)
    for (const place of (doc as { readonly places: readonly bigint[] }).places)
      placed.push({ near: Number(place), place, row })
  }
  if (table.places !== undefined) placeRows(connection, { table: table.places, replace }, placed)
}

export function upsert(connection: SqliteConnection, index: Index, doc: object): void {
  const table = getTable(index)
  upsertCells(connection, table, toRow(table, doc))
}

function upsertCells(connection: SqliteConnection, table: SqlTable, cells: readonly Cell[]): void {
  connection.statement(upsertSql(table)).run(...cells)
}

const upsertSql = perTable(table => {
  const set = table.columns.map(({ name }) => `${quoteIdentifier(name)} = excluded.${quoteIdentifier(name)}`).join(', ')
  return `${insertSql(table)} ON CONFLICT ("id") DO UPDATE SET ${set}`
})

/** Rows per statement. More are not cheaper. */
const TOGETHER = 8

/** `near`: the place as a double, which distinguishes nearly all places at a fraction of the time. */
type PlaceRow = { readonly near: number; readonly place: bigint; readonly row: bigint }

/**
 * Writes rows of a table of places, several at once, in the order of the table. A row's lists are far apart in the table,
 * but those of a thousand rows are close together. Sorted, with eight places per statement, they take 0.4 times as long as
 * one by one.
 */
function placeRows(
  connection: SqliteConnection,
  { table, replace }: { readonly table: string; readonly replace: boolean },
  rows: PlaceRow[],
): void {
  const verb = replace ? 'INSERT OR REPLACE' : 'INSERT'
  const prepareInsert = (count: number) =>
    connection.statement(
      `${verb} INTO ${quoteIdentifier(table)} ("place", "row") VALUES (?, ?)${', (?, ?)'.repeat(count - 1)}`,
    )
  const [several, one] = [prepareInsert(TOGETHER), prepareInsert(1)]
  rows.sort((a, b) => a.near - b.near || (a.place < b.place ? -1 : Number(a.place > b.place)))
  const whole = rows.length - (rows.length % TOGETHER)
  for (let at = 0; at < whole; at += TOGETHER) {
    const cells: bigint[] = []
    for (const { place, row } of rows.slice(at, at + TOGETHER)) cells.push(place, row)
    several.run(...cells)
  }
  for (const { place, row } of rows.slice(whole)) one.run(place, row)
}

/** Corrects documents, within the caller's transaction. */
export function rewriteDocuments(connection: SqliteConnection, { put, remove, unplace }: Rewrite): void {
  for (const place of unplace) removePlace(connection, place)
  for (const { index, id } of remove) removeDocument(connection, index, id)
  for (const { index, doc } of put) {
    if (index.kind === 'state') upsert(connection, index, doc)
    else {
      removeDocument(connection, index, doc.id)
      // If another row has one of its places, that row is wrong there and is corrected separately.
      insertHistory(connection, { index, replace: true }, [doc])
    }
  }
}

function removePlace(connection: SqliteConnection, place: bigint): void {
  const { places } = getTable(records)
  if (places !== undefined) connection.statement(`DELETE FROM ${quoteIdentifier(places)} WHERE "place" = ?`).run(place)
}

function removeDocument(connection: SqliteConnection, index: AnyIndex, id: string): void {
  const table = getTable(index)
  const key = keyCells(table, id)
  if (key === undefined) return
  for (const place of selectRowPlaces(connection, table, key)) removePlace(connection, place)
  connection.statement(`DELETE FROM ${quoteIdentifier(table.name)} WHERE ${keyCondition(table)}`).run(...key)
}

/** Removes blocks above a height, and their transactions and records. */
export function deleteHistory(connection: SqliteConnection, height: number): void {
  for (const index of historyIndices) {
    const table = getTable(index)
    const [column = ''] = table.key
    const position = [height + 1, 0, 0].slice(0, table.position.length) as Parameters<typeof formatId>
    const [first = null] = keyCells(table, formatId(...position)) ?? []
    const sql = `SELECT ${keyList(table)} FROM ${quoteIdentifier(table.name)} WHERE ${quoteIdentifier(column)} >= ?`
    for (const key of connection.rows(sql, first)) removeDocument(connection, index, toDocumentId(table, key))
  }
}

/** Places that point to a row, among those that the row lists: the table of places has no index by row. */
function selectRowPlaces(connection: SqliteConnection, table: SqlTable, key: readonly Cell[]): readonly bigint[] {
  const { name, places } = table
  if (places === undefined) return []
  const [row, blob] =
    connection.row(`SELECT "${ROW}", "places" FROM ${quoteIdentifier(name)} WHERE ${keyCondition(table)}`, ...key) ?? []
  if (row === undefined || !(blob instanceof Uint8Array)) return []
  const sql = `SELECT 1 FROM ${quoteIdentifier(places)} WHERE "place" = ? AND "row" = ?`
  return parsePlaces(blob).filter(place => connection.row(sql, place, row) !== undefined)
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
      return [index.name, doc.id, toRow(getTable(index), before).map(writeCell)]
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
    end = reverted && parsePublished(reverted.before)
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
    const index = requireIndex(name)
    if (cells === undefined) removeDocument(connection, index, id)
    else upsertCells(connection, getTable(index), cells.map(readCell))
  }
  connection.statement(SQL.remove).run(last)
  // The documents of state alone are kept.
  return { before: String(before), changed: all.map(([name, id]) => [requireIndex(name) as StateIndex, id]) }
}
