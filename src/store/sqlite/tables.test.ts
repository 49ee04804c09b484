import { describe, expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { records } from '#indices/record.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import { inMemory } from './connection.ts'
import { findSchemaDifferences } from './schema.ts'
import { fingerprint, getTable, schema } from './tables.ts'

describe('getTable', () => {
  test('balances are clustered by id, with an index for each order and one for the due time', () => {
    expect(getTable(balances).objects.map(({ sql }) => sql)).toEqual([
      'CREATE TABLE "balances" ("id" TEXT NOT NULL PRIMARY KEY, "token" TEXT NOT NULL, "owner" TEXT NOT NULL, "amount" INTEGER NOT NULL, "frozen" INTEGER NOT NULL, "frozen_list" TEXT NOT NULL, "next_due" INTEGER) STRICT, WITHOUT ROWID',
      'CREATE INDEX "balances.holders" ON "balances" ("token", "amount" DESC, "owner") WHERE ("amount" > 0)',
      'CREATE INDEX "balances.ofOwner" ON "balances" ("owner", "token", "amount", "frozen") WHERE ("amount" > 0 OR "frozen" > 0)',
      'CREATE INDEX "balances.rowsOfOwner" ON "balances" ("owner", "token")',
      'CREATE INDEX "balances.next_due" ON "balances" ("next_due", "id") WHERE "next_due" IS NOT NULL',
    ])
  })

  test('transactions have their position as row number, and derivable values take no space', () => {
    expect(getTable(transactions).objects.map(({ sql }) => sql)).toEqual([
      'CREATE TABLE "transactions" ("_position" INTEGER PRIMARY KEY, "height" INTEGER AS ("_position" / 100000) VIRTUAL, "tx" INTEGER AS ("_position" % 100000) VIRTUAL, "id" TEXT AS (printf(\'%012d-%05d\', "height", "tx")) VIRTUAL, "hash" ANY, "hash8" INTEGER NOT NULL, "body" ANY NOT NULL) STRICT',
      'CREATE INDEX "transactions.hash8" ON "transactions" ("hash8")',
    ])
  })

  test('records are appended by row number and found by position, with a separate table of list positions', () => {
    const [table, places, ...indexes] = getTable(records).objects
    expect(table?.sql).toStartWith(
      'CREATE TABLE "records" ("_row" INTEGER PRIMARY KEY, "id" TEXT AS (printf(\'%012d-%05d-%05d\', "height", "tx", "index")) VIRTUAL, ',
    )
    expect(table?.sql).toEndWith(', UNIQUE ("height", "tx", "index")) STRICT')
    expect(places?.sql).toBe(
      'CREATE TABLE "records.places" ("place" INTEGER PRIMARY KEY, "row" INTEGER NOT NULL) STRICT',
    )
    expect(indexes).toEqual([])
  })

  test('every index has a table, every order and lookup an index, and all names are unique', () => {
    const names = schema.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const index of [...historyIndices, ...stateIndices]) {
      expect(names).toContain(index.name)
      for (const part of [...Object.keys(index.orders), ...index.finds])
        expect(names).toContain(`${index.name}.${part}`)
    }
  })
})

describe('schema', () => {
  const created = (change: string): ReturnType<typeof findSchemaDifferences> =>
    inMemory(connection => {
      for (const { sql } of schema) connection.db.run(sql)
      connection.db.run(`INSERT INTO "meta" VALUES ('schema', '${fingerprint}')`)
      if (change !== '') connection.db.run(change)
      return findSchemaDifferences(connection)
    })
  const cases = [
    ['nothing', '', []],
    [
      'another column',
      'ALTER TABLE "wealth" ADD COLUMN "more" TEXT',
      [{ name: 'wealth', problem: 'different', detail: 'column more is TEXT, expected none' }],
    ],
    [
      'a column gone',
      'ALTER TABLE "tokens" DROP COLUMN "issuer"',
      [{ name: 'tokens', problem: 'different', detail: 'column issuer is absent, expected TEXT NOT NULL' }],
    ],
    [
      'an index gone',
      'DROP INDEX "votes.voters"',
      [{ name: 'votes.voters', problem: 'missing', detail: 'index does not exist' }],
    ],
    [
      'made by another version',
      `UPDATE "meta" SET "value" = 'x'`,
      [{ name: 'meta', problem: 'different', detail: `schema is x, expected ${fingerprint}` }],
    ],
  ] as const
  for (const [name, change, expected] of cases)
    test(`differences of tables: ${name}`, () => {
      expect<unknown>(created(change)).toEqual(expected)
    })

  test('differences of tables: an index of the same name over other columns is reported in one line', () => {
    const [difference] = inMemory(connection => {
      for (const { sql } of schema) connection.db.run(sql)
      connection.db.run('DROP INDEX "wealth.richest"')
      connection.db.run('CREATE INDEX "wealth.richest"\n ON "wealth" ("owner")')
      return findSchemaDifferences(connection)
    })
    expect(difference).toEqual({
      name: 'wealth.richest',
      problem: 'different',
      detail: `stored: CREATE INDEX "wealth.richest" ON "wealth" ("owner"); expected: ${schema.find(({ name }) => name === 'wealth.richest')?.sql}`,
    })
  })
})
