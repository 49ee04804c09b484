import { Database } from 'bun:sqlite'
import { historyIndices } from '#indices/registry.ts'
import type { Cell } from '#store/sqlite/connection.ts'
import { columnList, toDoc } from '#store/sqlite/rows.ts'
import { getTable } from '#store/sqlite/tables.ts'

/** History tables of the first release: ids as text, a row number as key, texts uncompressed. */
const FORMER: Readonly<Record<string, readonly string[]>> = {
  blocks: [
    'CREATE TABLE "blocks" ("_row" INTEGER PRIMARY KEY, "id" TEXT NOT NULL UNIQUE, "height" INTEGER NOT NULL, "hash" TEXT NOT NULL, "hash8" INTEGER NOT NULL, "version" TEXT NOT NULL, "parent_hash" TEXT NOT NULL, "tx_merkle_hash" TEXT NOT NULL, "tx_receipt_merkle_hash" TEXT NOT NULL, "witness" TEXT NOT NULL, "witness_account" TEXT NOT NULL, "time" INTEGER NOT NULL, "gas_usage" INTEGER NOT NULL, "tx_count" INTEGER NOT NULL, "info" TEXT NOT NULL, "orig_info" TEXT NOT NULL, "tx_hashes" TEXT NOT NULL, "base" TEXT, "base_hash8" INTEGER) STRICT',
    'CREATE INDEX "blocks.hash8" ON "blocks" ("hash8", "id")',
    'CREATE INDEX "blocks.base_hash8" ON "blocks" ("base_hash8", "id") WHERE "base_hash8" IS NOT NULL',
  ],
  transactions: [
    'CREATE TABLE "transactions" ("_row" INTEGER PRIMARY KEY, "id" TEXT NOT NULL UNIQUE, "height" INTEGER NOT NULL, "tx" INTEGER NOT NULL, "hash" TEXT NOT NULL, "hash8" INTEGER NOT NULL, "body" TEXT NOT NULL) STRICT',
    'CREATE INDEX "transactions.hash8" ON "transactions" ("hash8", "id")',
  ],
  records: [
    'CREATE TABLE "records" ("_row" INTEGER PRIMARY KEY, "id" TEXT NOT NULL UNIQUE, "height" INTEGER NOT NULL, "tx" INTEGER NOT NULL, "index" INTEGER NOT NULL, "tx_hash" TEXT NOT NULL, "time" INTEGER NOT NULL, "contract" TEXT NOT NULL, "action_name" TEXT NOT NULL, "data" TEXT NOT NULL, "return" TEXT NOT NULL, "status_code" TEXT NOT NULL, "from" TEXT NOT NULL, "to" TEXT NOT NULL, "amount" TEXT, "creator" TEXT, "receipt" INTEGER, "overflow" INTEGER NOT NULL, "places" BLOB NOT NULL) STRICT',
  ],
}

/** Converts a store to the layout that the first release would have written for the same blocks. */
export function intoFormerLayout(path: string): void {
  const db = new Database(path, { safeIntegers: true })
  db.transaction(() => {
    for (const index of historyIndices) {
      const table = getTable(index)
      using all = db.prepare(`SELECT ${columnList(table)} FROM "${index.name}"`)
      const rows = all.values() as Cell[][]
      db.run(`DROP TABLE "${index.name}"`)
      for (const sql of FORMER[index.name] ?? []) db.run(sql)
      // The former tables have no columns for fields that were added later.
      using columns = db.prepare(`SELECT name FROM pragma_table_info('${index.name}')`)
      const there = new Set(columns.values().flat())
      const fields = ['id', ...Object.keys(index.fields)].filter(field => there.has(field))
      using insert = db.prepare(
        `INSERT INTO "${index.name}" (${fields.map(field => `"${field}"`)}) VALUES (${fields.map(() => '?')})`,
      )
      for (const cells of rows) {
        const doc = toDoc(table, cells) as Readonly<Record<string, unknown>>
        insert.run(...fields.map(field => formerCell(doc[field])))
      }
    }
    db.run(`UPDATE meta SET value = 'former' WHERE key = 'schema'`)
  })()
  // A prepared statement that is not finalized would keep the file open and locked until it is garbage collected.
  db.close(true)
}

function formerCell(value: unknown): Cell {
  if (!Array.isArray(value)) return (value ?? null) as Cell
  const bytes = new DataView(new ArrayBuffer(8 * value.length))
  for (const [at, place] of (value as readonly bigint[]).entries()) bytes.setBigInt64(8 * at, place)
  return new Uint8Array(bytes.buffer)
}
