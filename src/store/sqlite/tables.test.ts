import { describe, expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { contracts } from '#indices/contract.ts'
import type { Order } from '#indices/define.ts'
import { producers } from '#indices/producer.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import { tokens } from '#indices/token.ts'
import { inMemory, type SqliteConnection } from './connection.ts'
import { findSchemaDifferences } from './schema.ts'
import { createTable, fingerprint, namesColumn, schema } from './tables.ts'
import { dueSql, findSql, momentSql, namesSql, newRecordsSql, rankAfterSql, rankSql, recordsSql } from './view.ts'

/** SQLite's query plan: one step per line. */
const planOf = (sql: string): readonly string[] =>
  inMemory((connection: SqliteConnection) => {
    for (const object of schema) connection.db.run(object.sql)
    return connection.rows(`EXPLAIN QUERY PLAN ${sql}`).map(([, , , detail]) => String(detail))
  })

describe('plans', () => {
  for (const index of stateIndices)
    for (const [name, order] of Object.entries<Order>(index.orders))
      test(`order ${index.name}.${name} is read along its index`, () => {
        expect(planOf(rankSql(createTable(index), name, order))).toEqual([
          expect.stringMatching(/^(CO-ROUTINE|MATERIALIZE)/),
          expect.stringContaining(`USING COVERING INDEX ${index.name}.${name}`),
          expect.stringMatching(/^SCAN /),
          'SEARCH r USING PRIMARY KEY (id=?)',
          'USE TEMP B-TREE FOR ORDER BY',
        ])
      })

  for (const index of stateIndices)
    for (const [name, order] of Object.entries<Order>(index.orders))
      if (order.counted)
        test(`order ${index.name}.${name} is read along its index from any rank, in two runs`, () => {
          const plan = planOf(rankAfterSql(createTable(index), name, order))
          const runs = plan.filter(step => step.includes(`USING COVERING INDEX ${index.name}.${name}`))
          const [first, second] =
            order.group === undefined
              ? [/^\(\w+=\? AND \w+>\?\)$/, /^\((?:\w+>\? AND )?\w+<\?\)$/]
              : [/^\(\w+=\? AND \w+=\? AND \w+>\?\)$/, /^\(\w+=\? AND \w+>\? AND \w+<\?\)$/]
          const ranges = runs.map(step => step.slice(step.lastIndexOf('(')))
          expect(ranges).toEqual([expect.stringMatching(first), expect.stringMatching(second)])
          expect(plan.filter(step => step.includes('TEMP B-TREE'))).toHaveLength(1)
        })

  for (const index of [accounts, contracts, producers, tokens])
    test(`names in ${index.name} are found by their beginnings through an index`, () => {
      const column = namesColumn(index) ?? ''
      const [step, ...others] = planOf(namesSql(createTable(index), column))
      expect(step).toMatch(
        new RegExp(`^SEARCH ${index.name} USING (?:INDEX \\S+|PRIMARY KEY) \\(${column}>\\? AND ${column}<\\?\\)$`),
      )
      expect(others).toEqual([])
    })

  for (const index of historyIndices)
    for (const field of index.finds)
      test(`documents in ${index.name} are found by ${field} through an index`, () => {
        const step = `SEARCH ${index.name} USING INDEX ${index.name}.${field} (${field}=?)`
        expect(planOf(findSql(createTable(index), field))).toEqual([step])
      })

  test('rows of a list, times, due balances and records of the newest blocks are read along their positions', () => {
    const row = 'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)'
    expect(planOf(recordsSql)).toEqual(['SEARCH p USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)', row])
    expect(planOf(momentSql)).toEqual(['SEARCH p USING INTEGER PRIMARY KEY (rowid=?)', row])
    expect(planOf(dueSql)).toEqual(['SEARCH balances USING INDEX balances.next_due (next_due>? AND next_due<?)'])
    expect(planOf(newRecordsSql)).toEqual(['SEARCH records USING INDEX sqlite_autoindex_records_1 (height>?)'])
  })
})

const richest = 'CREATE INDEX "wealth.richest" ON "wealth" ("owner")'

test.each([
  ['nothing', 'SELECT 1', undefined],
  [
    'a column gone',
    'ALTER TABLE "tokens" DROP COLUMN "issuer"',
    { name: 'tokens', problem: 'different', detail: 'column issuer is absent, expected TEXT NOT NULL' },
  ],
  [
    'made by another version',
    `UPDATE "meta" SET "value" = 'x'`,
    { name: 'meta', problem: 'different', detail: `schema is x, expected ${fingerprint}` },
  ],
  [
    'an index of the same name over other columns',
    `DROP INDEX "wealth.richest"; ${richest.replace(' ON', '\n ON')}`,
    {
      name: 'wealth.richest',
      problem: 'different',
      detail: `stored: ${richest}; expected: ${schema.find(({ name }) => name === 'wealth.richest')?.sql}`,
    },
  ],
])('differences of tables: %s is reported in one line', (_, change, expected) => {
  const found = inMemory(connection => {
    for (const { sql } of schema) connection.db.run(sql)
    connection.db.run(`INSERT INTO "meta" VALUES ('schema', '${fingerprint}')`)
    connection.db.run(change)
    return findSchemaDifferences(connection)
  })
  expect<unknown>(found).toEqual(expected === undefined ? [] : [expected])
})
