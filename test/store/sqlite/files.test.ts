import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { batchOf, identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { ROOT } from '../../support/root.ts'

const folder = testFolder()

async function made(file: string, blocks: number) {
  const path = join(folder, file)
  const store = openSqlite({ path })
  await store.create()
  const writer = await store.takeOver(identity)
  if (blocks > 0) await commitBatch(writer, tellingBatch(0, blocks - 1))
  await writer.release()
  return { path, store }
}
function runSql(path: string, sql: string): void {
  const database = new Database(path)
  database.run(sql)
  database.close()
}
const KEY = { id: 'a', hash: '', name: '', perSecond: 1, perDay: 1, created: 1 }
const callsOf = (store: Store): readonly (() => Promise<unknown>)[] => [
  () => store.create(),
  () => store.check(),
  () => store.published(),
  () => store.read(async () => 1),
  () => store.takeOver(identity),
  () => store.keys.list(),
  () => store.keys.add(KEY),
]

describe('files', () => {
  test.each(['later/store.sqlite', 'empty.sqlite'])(
    '%s: a server that started first sees the store as soon as it is created and loaded',
    async name => {
      const path = join(folder, name)
      if (name === 'empty.sqlite') writeFileSync(path, '')
      const server = openSqlite({ path, readonly: true })
      expect(await server.published()).toBeUndefined()
      const loader = openSqlite({ path })
      expect((await failureOf(loader.takeOver(identity))).kind).toBe('conflict')
      await loader.create()
      expect(await server.published()).toBeUndefined()
      await commitBatch(await loader.takeOver(identity), batchOf(0, 1))
      expect(await server.read(async ({ at }) => at.height)).toBe(1)
      await loader.close()
      await server.close()
    },
  )

  test('an unreadable record in a file without a block is refused, as there is nothing to restore it from', async () => {
    const { path, store } = await made('no-block.sqlite', 0)
    runSql(path, `INSERT OR REPLACE INTO "meta" ("key", "value") VALUES ('published', '?')`)
    const failure = await failureOf(store.restore())
    expect(failure.kind).toBe('damaged')
    expect(failure.help).toContain('load it again')
    await store.close()
  })

  const refusals: readonly (readonly [what: string, make: (path: string) => unknown, kind: string, message: string])[] =
    [
      [
        'another program’s database',
        path => runSql(path, 'CREATE TABLE "theirs" ("a" TEXT)'),
        'conflict',
        ' is a file of another program: its application id is 0, expected 1768911732.',
      ],
      [
        'a file that is not a database',
        path => writeFileSync(path, 'notes of somebody, longer than the header of a database '.repeat(20)),
        'conflict',
        ' is not an SQLite file (SQLITE_NOTADB).',
      ],
      ['a folder in place of the file', path => mkdirSync(path), 'unavailable', ' is not a file.'],
      ['a pipe in place of the file', path => Bun.spawnSync(['mkfifo', path]), 'unavailable', ' is not a file.'],
    ]
  test.each(refusals)('%s is refused by every call, and unchanged', async (_, make, kind, message) => {
    const path = join(folder, crypto.randomUUID())
    make(path)
    const read = async () => (statSync(path).isFile() ? await Bun.file(path).bytes() : undefined)
    const before = await read()
    const store = openSqlite({ path })
    for (const call of callsOf(store)) {
      const refused = await failureOf(call())
      expect([String(refused.kind), refused.retryable, refused.message]).toEqual([
        kind,
        false,
        `sqlite:${path}${message}`,
      ])
    }
    await store.close()
    expect(await read()).toEqual(before)
  })

  test('a path below a file, or with too long a name, is refused with a remedy', async () => {
    const file = join(folder, 'a-file')
    writeFileSync(file, '')
    for (const path of [join(file, 'x.sqlite'), join(file, 'deeper', 'x.sqlite'), join(folder, 'x'.repeat(300))]) {
      const store = openSqlite({ path })
      for (const call of [() => store.create(), () => store.published(), () => store.takeOver(identity)]) {
        const { kind, retryable, message } = await failureOf(call())
        expect([kind, retryable]).toEqual(['unavailable', false])
        expect(message).toStartWith(`sqlite:${path}`)
      }
      await store.close()
    }
  })

  test('a table that is missing after a load is not created again, but an index is', async () => {
    const { path, store } = await made('gone.sqlite', 1)
    await store.close()
    runSql(path, 'DROP INDEX "wealth.richest"')
    const other = openSqlite({ path })
    const missing = { name: 'wealth.richest', problem: 'missing', detail: 'index does not exist' } as const
    expect(await other.check()).toEqual([missing])
    await other.create()
    expect(await other.check()).toEqual([])
    runSql(path, 'DROP TABLE "votes"')
    const gone = `sqlite:${path}: table votes is gone, with the data that was loaded into it.`
    expect(await failureOf(other.create())).toMatchObject({ kind: 'damaged', message: gone })
    await other.close()
  })

  test('readonly: writing calls are refused', async () => {
    const { path, store } = await made('readonly.sqlite', 1)
    await store.close()
    const reader = openSqlite({ path, readonly: true })
    const refused = { kind: 'conflict', retryable: false, message: `sqlite:${path} is opened read-only.` }
    for (const call of [() => reader.create(), () => reader.takeOver(identity), () => reader.keys.revoke('a', 1)])
      expect(await failureOf(call())).toMatchObject(refused)
    expect((await reader.published())?.height).toBe(0)
    await reader.close()
  })

  test('a user without write permission reads a store at rest, and gets a message when a write would be needed', async () => {
    const { path, store } = await made(join('locked-folder', 'store.sqlite'), 3)
    await store.close()
    // The other user may enter the path, but not the folder itself or its files.
    chmodSync(folder, 0o755)
    const inner = join(folder, 'locked-folder')
    for (const file of readdirSync(inner)) chmodSync(join(inner, file), 0o444)
    chmodSync(inner, 0o555)
    // The checkout may be readable by its owner only, so the program is loaded before the rights are dropped.
    const script = `
      import { openSqlite } from '${join(ROOT, 'src/store/sqlite/open-sqlite.ts')}'
      if (process.getuid() === 0) {
        process.chdir('/')
        process.setgroups([])
        process.setgid(65_534)
        process.setuid(65_534)
      }
      const store = openSqlite({ path: '${path}' })
      const told = async call => { try { return await call } catch (error) { return error.kind + ' ' + error.retryable } }
      console.log(JSON.stringify([
        (await store.published()).height,
        await told(store.read(async ({ at }) => at.height)),
        await told(store.takeOver(${JSON.stringify(identity)})),
        await told(store.create()),
      ]))`
    const child = Bun.spawnSync([process.execPath, '-e', script], {
      cwd: import.meta.dir,
      env: { ...process.env, HOME: tmpdir() },
      stderr: 'pipe',
    })
    chmodSync(inner, 0o755)
    expect([child.stderr.toString(), child.stdout.toString().trim()]).toEqual([
      '',
      '[2,2,"unavailable false","unavailable false"]',
    ])
  })

  test('takeOver after the removal of a lock: the first loader stops at its next batch', async () => {
    const { path, store } = await made('two-locks.sqlite', 2)
    const first = await store.takeOver(identity)
    const lock = `${path}.lock`
    renameSync(lock, `${lock}.old`)
    const other = openSqlite({ path })
    const second = await other.takeOver(identity)
    const { kind, message } = await failureOf(commitBatch(first, tellingBatch(2, 3)))
    expect([kind, message.startsWith(`Another loader has taken over sqlite:${path}`)]).toEqual(['conflict', true])
    await commitBatch(second, tellingBatch(2, 2))
    expect((await store.published())?.height).toBe(2)
    await other.close()
    await store.close()
  })
})
