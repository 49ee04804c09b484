import { blocks } from '#indices/block.ts'
import type { Index } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import type { StateChange, StateIndex } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import { yieldEventLoop } from '#time/turn.ts'
import type { Batch } from '../port.ts'
import type { Cell } from './cell.ts'
import type { SqliteConnection } from './connection.ts'
import { putPublished } from './meta.ts'
import { columnList, perTable, toRow } from './rows.ts'
import { createTable, quoted, type SqlTable } from './tables.ts'

/** Rows written before other requests of the process get a turn: some 5 ms. */
const SLICE = 1_000

/** Writes a batch and publishes its end, within the caller's transaction. */
export async function writeBatch(connection: SqliteConnection, batch: Batch): Promise<void> {
  const pause = pauses()
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

/** Yields to other requests after every `SLICE` calls; costs nothing in between. */
function pauses(): () => Promise<void> | undefined {
  let count = 0
  return () => {
    count += 1
    return count % SLICE === 0 ? yieldEventLoop() : undefined
  }
}

const insertSql = (table: SqlTable): string =>
  `INSERT INTO ${quoted(table.name)} (${columnList(table)}) VALUES (?${', ?'.repeat(table.head.length + table.columns.length - 1)})`

/** Writes history documents and their places; places may be written as late as `end`. */
export type HistoryRows = { add(doc: object): void; end(): void }

/** With `replace`, a place that another row has moves to the new row. */
export function historyRows(
  connection: SqliteConnection,
  index: Index,
  { replace = false }: { readonly replace?: boolean } = {},
): HistoryRows {
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

/** Like `upsert`, with the cells of a row. */
export function upsertCells(connection: SqliteConnection, table: SqlTable, cells: readonly Cell[]): void {
  connection.statement(upsertSql(table)).run(...cells)
}

const upsertSql = perTable(table => {
  const set = table.columns.map(({ name }) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ')
  return `${insertSql(table)} ON CONFLICT ("id") DO UPDATE SET ${set}`
})

/** Writes rows of a table of places, several at once, in the order of the table. */
export type PlaceRows = {
  add(places: readonly bigint[], row: bigint): void
  /** Writes the remaining rows. */
  end(): void
}

/** Places collected before they are written: some 4 ms. */
const COLLECTED = 2_000
/** Rows per statement. More are not cheaper. */
const TOGETHER = 8

/** `near`: the place as a double, which distinguishes nearly all places at a fraction of the time. */
type PlaceRow = { readonly near: number; readonly place: bigint; readonly row: bigint }

const byPlace = (a: PlaceRow, b: PlaceRow): number =>
  a.near - b.near || (a.place < b.place ? -1 : a.place > b.place ? 1 : 0)

/**
 * A row's lists are far apart in the table, but those of a thousand rows are close together. Sorted, with
 * eight places per statement, they take 0.4 times as long as one by one. With `replace`, a place that another
 * row has moves to the new row; if several new rows have it, the last one gets it.
 */
export function placeRows(
  connection: SqliteConnection,
  table: string,
  { replace }: { readonly replace: boolean },
): PlaceRows {
  const verb = replace ? 'INSERT OR REPLACE' : 'INSERT'
  const statementOf = (rows: number) =>
    connection.statement(`${verb} INTO ${quoted(table)} ("place", "row") VALUES (?, ?)${', (?, ?)'.repeat(rows - 1)}`)
  const [several, one] = [statementOf(TOGETHER), statementOf(1)]
  let collected: PlaceRow[] = []
  const end = (): void => {
    const sorted = collected.sort(byPlace)
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
      if (collected.length >= COLLECTED) end()
    },
    end,
  }
}
