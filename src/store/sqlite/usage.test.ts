import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testFolder } from '#test/support/test-folder.ts'
import { openSqliteUsage } from './usage.ts'

const folder = testFolder()

test('counts of requests: reading creates no file, and a file of another kind is refused', async () => {
  const none = openSqliteUsage(join(folder, 'none'))
  expect(await none.since(0)).toEqual([])
  expect(() => new Database(join(folder, 'none'), { readonly: true })).toThrow()
  const other = join(folder, 'other')
  writeFileSync(other, 'no database, but long enough to be looked at as one: '.repeat(40))
  await expect(openSqliteUsage(other).add(5, new Map(), 0)).rejects.toMatchObject({ kind: 'conflict' })
})

test('counts of requests: a file of an earlier version continues with its counts', async () => {
  const path = join(folder, 'former.sqlite')
  const former = new Database(path)
  former.run(
    'CREATE TABLE "usage" ("day" INTEGER, "key" TEXT, "count" INTEGER, PRIMARY KEY ("day", "key")) WITHOUT ROWID',
  )
  former.run(`INSERT INTO "usage" VALUES (5, 'a', 2)`)
  former.close()
  const usage = openSqliteUsage(path)
  expect(await usage.add(5, new Map([['a', 3]]), 70)).toEqual(new Map([['a', 5]]))
  expect(await usage.since(5)).toEqual([{ day: 5, key: 'a', requests: 5, last: 70 }])
  await usage.close()
})

test('counts of requests: a deleted file is created again', async () => {
  const path = join(folder, 'deleted.sqlite')
  const usage = openSqliteUsage(path)
  await usage.add(5, new Map([['a', 3]]), 70)
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  expect(await usage.add(5, new Map([['a', 1]]), 71)).toEqual(new Map([['a', 1]]))
  await usage.close()
})
