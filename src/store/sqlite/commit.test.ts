import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { records } from '#indices/record.ts'
import { identity, recordDoc, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { turn } from '#test/support/wait.ts'
import { rewriteDocuments, writeBatch, writeDocuments } from './commit.ts'
import { openOrCreate, type SqliteConnection, withMemoryDatabase } from './connection.ts'
import { getPublished, runTransaction } from './meta.ts'
import { openSqlite } from './open-sqlite.ts'
import { schema } from './tables.ts'

const folder = testFolder()

/** Every row of every table. */
const contents = (connection: SqliteConnection) =>
  schema
    .filter(({ type }) => type === 'table')
    .map(({ name }) => [name, connection.rows(`SELECT * FROM "${name}" ORDER BY 1`)])

describe('writeBatch', () => {
  test('a full disk is unavailable and retryable, the store is unchanged, and the same batch succeeds when there is room', async () => {
    const path = join(folder, 'full.sqlite')
    const store = openSqlite({ path })
    await store.create()
    const writer = await store.takeOver(identity)
    await commitBatch(writer, tellingBatch(0, 9))
    await writer.release()
    const connection = openOrCreate(path, 'full')
    const before = contents(connection)
    const write = (): Promise<void> =>
      runTransaction(connection, 'full', () => writeBatch(connection, tellingBatch(10, 2_500)))

    const [[pages] = []] = connection.rows('PRAGMA page_count')
    connection.db.run(`PRAGMA max_page_count = ${Number(pages) + 20}`)
    const full = await failureOf(write())
    expect([full.kind, full.retryable, full.message]).toEqual([
      'unavailable',
      true,
      'full: database or disk is full (SQLITE_FULL).',
    ])
    expect(connection.db.inTransaction).toBe(false)
    expect(contents(connection)).toEqual(before)

    connection.db.run('PRAGMA max_page_count = 1000000')
    await write()
    expect(getPublished(connection)?.height).toBe(2_500)
    expect(connection.row('SELECT count(*), max("height") FROM "blocks"')).toEqual([2_501n, 2_500n])
    connection.close()
    await store.close()
  })

  test('requests of the same process are served at the previous height while a long batch is written', async () => {
    const store = openSqlite({ path: join(folder, 'busy.sqlite') })
    await store.create()
    const writer = await store.takeOver(identity)
    await commitBatch(writer, tellingBatch(0, 0))
    const commit = commitBatch(writer, tellingBatch(1, 5_000))
    let served = 0
    while (Bun.peek.status(commit) === 'pending') {
      if ((await store.read(async ({ at }) => at.height)) === 0) served += 1
      await turn()
    }
    await commit
    expect(served).toBeGreaterThan(5)
    expect((await store.published())?.height).toBe(5_000)
    await store.close()
  })
})

test('writeDocuments: a place that another row has is an error, and a repair gives it to the new row', () => {
  withMemoryDatabase(connection => {
    for (const { sql } of schema) connection.db.run(sql)
    const list = (): readonly string[] =>
      connection
        .rows(
          'SELECT p."place", r."index" FROM "records.places" AS p JOIN "records" AS r ON r."_row" = p."row" ORDER BY 1',
        )
        .map(String)
    const docs = Array.from({ length: 9 }, (_, index) => recordDoc(1, index, { places: [BigInt(index)] }))
    writeDocuments(connection, records, docs.toReversed())
    const places = docs.map((_, index) => `${index},${index}`)
    expect(list()).toEqual(places)
    const doc = recordDoc(1, 9, { places: [8n, 4n, 9n] })
    expect(() => writeDocuments(connection, records, [doc])).toThrow('UNIQUE constraint failed')
    rewriteDocuments(connection, { put: [{ index: records, doc }], remove: [], unplace: [] })
    expect(list()).toEqual(places.with(4, '4,9').with(8, '8,9').concat('9,9'))
  })
})
