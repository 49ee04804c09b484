import type { StateChange } from '#indices/registry.ts'
import { type StateIndex, stateIndices } from '#indices/registry.ts'
import type { Batch, Published } from '#store/port.ts'
import { isUndoable, UNDO_LIMITS } from '../batch.ts'
import type { Cell } from './cell.ts'
import { upsertCells } from './commit.ts'
import type { SqliteConnection } from './connection.ts'
import { fromText, getPublished, putPublished } from './meta.ts'
import { deleteHistory, removeDocument } from './rewrite.ts'
import { toRow } from './rows.ts'
import { createTable } from './tables.ts'

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
  const documents = isUndoable(batch) ? formatUndo(batch.changes) : undefined
  if (before === undefined || documents === undefined || documents.length > UNDO_LIMITS.batchBytes) {
    clearUndo(connection)
    return
  }
  const bytes = BigInt(documents.length)
  connection.statement(SQL.put).run(BigInt(batch.end.height), before, bytes, documents)
  connection.statement(SQL.trim).run(BigInt(batch.end.height - UNDO_LIMITS.heights))
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
  for (const kept of all) restore(connection, kept)
  connection.statement(SQL.remove).run(last)
  return { before: String(before), changed: all.map(([name, id]) => [indexNamed(name), id]) }
}

function restore(connection: SqliteConnection, [name, id, cells]: UndoEntry): void {
  const index = indexNamed(name)
  if (cells === undefined) removeDocument(connection, index, id)
  else upsertCells(connection, createTable(index), cells.map(readCell))
}

/** The index of state with a name that this program wrote. */
export function indexNamed(name: string): StateIndex {
  const index = byName.get(name)
  if (index === undefined) throw new TypeError(`The undo data names an unknown index '${name}'.`)
  return index
}
