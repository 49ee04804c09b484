import { describe, expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { contracts } from '#indices/contract.ts'
import type { Order } from '#indices/define.ts'
import { producers } from '#indices/producer.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import { tokens } from '#indices/token.ts'
import { inMemory, type SqliteConnection } from './connection.ts'
import { dueSql, findSql, momentSql, namesSql, newRecordsSql, rankAfterSql, rankSql, recordsSql } from './read.ts'
import { createTable, namesColumn, schema } from './tables.ts'

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
          expect(runs.map(step => step.slice(step.lastIndexOf('(')))).toEqual(
            order.group === undefined
              ? [
                  expect.stringMatching(/^\(\w+=\? AND \w+>\?\)$/),
                  expect.stringMatching(/^\((?:\w+>\? AND )?\w+<\?\)$/),
                ]
              : [
                  expect.stringMatching(/^\(\w+=\? AND \w+=\? AND \w+>\?\)$/),
                  expect.stringMatching(/^\(\w+=\? AND \w+>\? AND \w+<\?\)$/),
                ],
          )
          expect(plan.filter(step => step.includes('TEMP B-TREE'))).toHaveLength(1)
        })

  for (const index of [accounts, contracts, producers, tokens])
    test(`names in ${index.name} are found by their beginnings through an index`, () => {
      const column = namesColumn(index) ?? ''
      expect(planOf(namesSql(createTable(index), column))).toEqual([
        expect.stringMatching(
          new RegExp(`^SEARCH ${index.name} USING (?:INDEX \\S+|PRIMARY KEY) \\(${column}>\\? AND ${column}<\\?\\)$`),
        ),
      ])
    })

  for (const index of historyIndices)
    for (const field of index.finds)
      test(`documents in ${index.name} are found by ${field} through an index`, () => {
        expect(planOf(findSql(createTable(index), field))).toEqual([
          `SEARCH ${index.name} USING INDEX ${index.name}.${field} (${field}=?)`,
        ])
      })

  test('records of a list are one range of the positions, each with a lookup of its row', () => {
    expect(planOf(recordsSql)).toEqual([
      'SEARCH p USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
      'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)',
    ])
  })

  test('the time of a row takes one lookup of its position and one of its row', () => {
    expect(planOf(momentSql)).toEqual([
      'SEARCH p USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)',
    ])
  })

  test('due balances are read along their index', () => {
    expect(planOf(dueSql)).toEqual(['SEARCH balances USING INDEX balances.next_due (next_due>? AND next_due<?)'])
  })
})

test('plans: records of the newest blocks are read along their position', () => {
  expect(planOf(newRecordsSql)).toEqual(['SEARCH records USING INDEX sqlite_autoindex_records_1 (height>?)'])
})
