import { afterAll, expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { contracts } from '#indices/contract.ts'
import type { Order } from '#indices/define.ts'
import { producers } from '#indices/producer.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import { tokens } from '#indices/token.ts'
import { boundedCache } from '#store/bounded-cache.ts'
import type { View } from '#store/port.ts'
import type { StateReader } from '#store/state-port.ts'
import { publishedAt } from '#test/store/suite/fixture.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { openOrCreate, withMemoryDatabase } from './connection.ts'
import { findSchemaDifferences } from './schema.ts'
import { fingerprint, namesColumn, schema } from './tables.ts'
import { createSqliteView, openStateReader } from './view.ts'

/** An empty store, which notes the statements that are executed. */
const connection = openOrCreate(`${testFolder()}/plans.sqlite`, 'plans')
for (const object of schema) connection.db.run(object.sql)
afterAll(() => connection.close())
const executed = new Set<string>()
const { rows, row, numberRows } = connection
const noting =
  <R>(read: (sql: string, ...cells: Parameters<typeof rows>[1][]) => R) =>
  (sql: string, ...cells: Parameters<typeof rows>[1][]): R => {
    executed.add(sql)
    return read(sql, ...cells)
  }
const noted = { ...connection, rows: noting(rows), row: noting(row), numberRows: noting(numberRows) }
const { view } = createSqliteView(
  noted,
  { at: publishedAt(0), isUnderRepair: false, docs: boundedCache(0) },
  { isDamaged: false, release: () => undefined },
)
const state = openStateReader(work => work(noted))

type Read = (from: View, state: StateReader) => unknown

/** SQLite's plans of the statements of a read, one step per line. The read itself finds nothing. */
async function plansOf(read: Read): Promise<readonly (readonly string[])[]> {
  executed.clear()
  await Promise.try(() => read(view, state)).catch(() => undefined)
  return [...executed].map(sql => rows(`EXPLAIN QUERY PLAN ${sql}`).map(([, , , detail]) => String(detail)))
}

const orders = stateIndices.flatMap(index =>
  Object.entries<Order>(index.orders).map(([name, order]) => ({
    ...{ index, name, order, path: `${index.name}.${name}` },
    ...(order.group === undefined ? {} : { group: 'a' }),
  })),
)

test.each(orders)('order $path is read along its index', async ({ index, name, path, group }) => {
  const page = { offset: 0, limit: 1, ...(group === undefined ? {} : { group }) }
  expect(await plansOf(from => from.page(index, name as never, page))).toEqual([
    [
      expect.stringMatching(/^(CO-ROUTINE|MATERIALIZE)/),
      expect.stringContaining(`USING COVERING INDEX ${path}`),
      expect.stringMatching(/^SCAN /),
      'SEARCH r USING PRIMARY KEY (id=?)',
      'USE TEMP B-TREE FOR ORDER BY',
    ],
  ])
})

test.each(orders.filter(({ order }) => order.counted))(
  'order $path is read along its index from any rank, in two runs',
  async ({ index, name, path, group }) => {
    const range = { index, order: name, after: { amount: 1n, name: 'a' }, ...(group === undefined ? {} : { group }) }
    const [plan = [], ...others] = await plansOf((_, from) => from.members(range))
    const runs = plan.filter(step => step.includes(`USING COVERING INDEX ${path}`))
    const [first, second] =
      group === undefined
        ? [/^\(\w+=\? AND \w+>\?\)$/, /^\((?:\w+>\? AND )?\w+<\?\)$/]
        : [/^\(\w+=\? AND \w+=\? AND \w+>\?\)$/, /^\(\w+=\? AND \w+>\? AND \w+<\?\)$/]
    const ranges = runs.map(step => step.slice(step.lastIndexOf('(')))
    expect(ranges).toEqual([expect.stringMatching(first), expect.stringMatching(second)])
    expect(plan.filter(step => step.includes('TEMP B-TREE'))).toHaveLength(1)
    expect(others).toEqual([])
  },
)

function findNames(index: typeof accounts | typeof contracts | typeof producers | typeof tokens) {
  const range = `${namesColumn(index)}>\\? AND ${namesColumn(index)}<\\?`
  const step = new RegExp(`^SEARCH ${index.name} USING (?:INDEX \\S+|PRIMARY KEY) \\(${range}\\)$`)
  const read: Read = from => from.startingWith(index, 'a', 1)
  return [`names in ${index.name}`, read, [expect.stringMatching(step)]] as const
}

const list = { id: 'list', number: 1, count: 9, starts: [] }
const RECORD = 'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)'
test.each<readonly [string, Read, readonly unknown[]]>([
  ...[accounts, contracts, producers, tokens].map(findNames),
  ...historyIndices.flatMap(index =>
    index.finds.map((field): readonly [string, Read, readonly unknown[]] => {
      const step = `SEARCH ${index.name} USING INDEX ${index.name}.${field} (${field}=?)`
      return [`documents with a ${field} in ${index.name}`, from => from.find(index, field as never, 1n), [step]]
    }),
  ),
  [
    'rows of a list',
    from => from.records(list, 1, 9),
    ['SEARCH p USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)', RECORD],
  ],
  ['times', from => from.moments(list, [1]), ['SEARCH p USING INTEGER PRIMARY KEY (rowid=?)', RECORD]],
  [
    'due balances',
    (_, from) => from.due({ until: 1n, limit: 1 }),
    ['SEARCH balances USING INDEX balances.next_due (next_due>? AND next_due<?)'],
  ],
  [
    'records of the newest blocks',
    from => from.newRecords(new Map(), 1),
    ['SEARCH records USING INDEX sqlite_autoindex_records_1 (height>?)'],
  ],
])('%s are found through an index', async (_, read, steps) => {
  expect<unknown>(await plansOf(read)).toEqual([steps])
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
  const found = withMemoryDatabase(connection => {
    for (const { sql } of schema) connection.db.run(sql)
    connection.db.run(`INSERT INTO "meta" VALUES ('schema', '${fingerprint}')`)
    connection.db.run(change)
    return findSchemaDifferences(connection)
  })
  expect<unknown>(found).toEqual(expected === undefined ? [] : [expected])
})
