import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyring } from '#keys/keyring.ts'
import type { Store, StoredKey } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { LOOK_MS } from '#store/sqlite/readers.ts'
import { batchOf, identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { ROOT } from '../../support/root.ts'

const folder = testFolder()
const opened: Store[] = []
afterAll(async () => {
  for (const store of opened) await store.close()
})

/** A store that is closed after all tests. */
function open(path: string, options: { readonly readonly?: true } = {}): Store {
  const store = openSqlite({ path, ...options })
  opened.push(store)
  return store
}

const KEY: StoredKey = { id: 'a', hash: 'h', name: 'n', perSecond: 1, perDay: 1, created: 1 }

/** Path of a file with a key and so many blocks, which no process has open. */
async function createFile(name: string, blocks: number, of = identity): Promise<string> {
  const path = join(folder, name)
  const store = openSqlite({ path })
  await store.create()
  const writer = await store.takeOver(of)
  if (blocks > 0) await commitBatch(writer, tellingBatch(0, blocks - 1))
  await writer.release()
  await store.keys.add(KEY)
  await store.close()
  return path
}

function runSql(path: string, sql: string): void {
  const database = new Database(path)
  database.run(sql)
  database.close()
}

describe('files', () => {
  test.each(['later/store.sqlite', 'empty.sqlite'])(
    '%s: a server that started first sees the store as soon as it is created and loaded',
    async name => {
      const path = join(folder, name)
      if (name === 'empty.sqlite') writeFileSync(path, '')
      const server = open(path, { readonly: true })
      expect(await server.published()).toBeUndefined()
      const loader = open(path)
      expect(await kindOf(loader.takeOver(identity))).toBe('conflict')
      await loader.create()
      expect(await server.published()).toBeUndefined()
      await commitBatch(await loader.takeOver(identity), batchOf(0, 1))
      expect(await server.read(async ({ at }) => at.height)).toBe(1)
    },
  )

  test('an unreadable record in a file without a block is refused, as there is nothing to restore it from', async () => {
    const path = await createFile('no-block.sqlite', 0)
    runSql(path, `INSERT OR REPLACE INTO "meta" ("key", "value") VALUES ('published', '?')`)
    const refused = { kind: 'damaged', help: expect.stringContaining('load it again') }
    expect(await failureOf(open(path).restore())).toMatchObject(refused)
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
    const store = open(path)
    for (const call of [
      () => store.create(),
      () => store.check(),
      () => store.published(),
      () => store.read(async () => 1),
      () => store.takeOver(identity),
      () => store.keys.list(),
      () => store.keys.add(KEY),
    ]) {
      const refused = await failureOf(call())
      expect<unknown>([refused.kind, refused.retryable, refused.message]).toEqual([
        kind,
        false,
        `sqlite:${path}${message}`,
      ])
    }
    expect(await read()).toEqual(before)
  })

  test('a path below a file, or with too long a name, is refused with a remedy', async () => {
    const file = join(folder, 'a-file')
    writeFileSync(file, '')
    for (const path of [join(file, 'x.sqlite'), join(file, 'deeper', 'x.sqlite'), join(folder, 'x'.repeat(300))]) {
      const store = open(path)
      const refused = { kind: 'unavailable', retryable: false, message: expect.stringContaining(`sqlite:${path}`) }
      for (const call of [() => store.create(), () => store.published(), () => store.takeOver(identity)])
        expect(await failureOf(call())).toMatchObject(refused)
    }
  })

  test('a table that is missing after a load is not created again, but an index is', async () => {
    const path = await createFile('no-table.sqlite', 1)
    runSql(path, 'DROP INDEX "wealth.richest"')
    const store = open(path)
    const missing = { name: 'wealth.richest', problem: 'missing', detail: 'index does not exist' } as const
    expect(await store.check()).toEqual([missing])
    await store.create()
    expect(await store.check()).toEqual([])
    runSql(path, 'DROP TABLE "votes"')
    const gone = `sqlite:${path}: table votes is gone, with the data that was loaded into it.`
    expect(await failureOf(store.create())).toMatchObject({ kind: 'damaged', message: gone })
  })

  test('readonly: writing calls are refused', async () => {
    const path = await createFile('readonly.sqlite', 1)
    const reader = open(path, { readonly: true })
    const refused = { kind: 'conflict', retryable: false, message: `sqlite:${path} is opened read-only.` }
    for (const call of [() => reader.create(), () => reader.takeOver(identity), () => reader.keys.revoke('a', 1)])
      expect(await failureOf(call())).toMatchObject(refused)
    expect((await reader.published())?.height).toBe(0)
  })

  test('a user without write permission reads a store at rest, and gets a message when a write would be needed', async () => {
    const path = await createFile(join('locked-folder', 'store.sqlite'), 3)
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
    const path = await createFile('two-locks.sqlite', 2)
    const store = open(path)
    const first = await store.takeOver(identity)
    renameSync(`${path}.lock`, `${path}.lock.old`)
    const second = await open(path).takeOver(identity)
    const { kind, message } = await failureOf(commitBatch(first, tellingBatch(2, 3)))
    expect([kind, message.startsWith(`Another loader has taken over sqlite:${path}`)]).toEqual(['conflict', true])
    await commitBatch(second, tellingBatch(2, 2))
    expect((await store.published())?.height).toBe(2)
  })
})

function remove(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}
/** Replaces a file, and lets the time pass for which an earlier look at the path counts. */
async function replace(path: string, by: (path: string) => unknown): Promise<void> {
  by(path)
  await Bun.sleep(2 * LOOK_MS)
}
/** A server that has read a file of three blocks. */
async function openServer(path: string) {
  const server = open(path, { readonly: true })
  const readHeight = () => server.read(async ({ at }) => at.height)
  expect(await readHeight()).toBe(2)
  expect(await server.keys.list()).toEqual([KEY])
  return { server, readHeight }
}

describe('a file that is replaced under its readers', () => {
  test.each([
    ['missing', remove],
    ['empty', (path: string) => truncateSync(path)],
  ])('%s: no request is answered, no key accepted, and no file created', async (what, damage) => {
    const path = await createFile(`now ${what}.sqlite`, 3)
    const { server, readHeight } = await openServer(path)
    const loader = open(path)
    expect((await loader.published())?.height).toBe(2)
    await replace(path, damage)
    const message = `sqlite:${path} was in use and is now gone or empty.`
    for (const call of [readHeight, () => server.published(), () => server.keys.list()])
      expect(await failureOf(call())).toMatchObject({
        ...{ kind: 'unavailable', message },
        help: expect.stringContaining('Put it back'),
      })
    if (damage !== remove) return
    expect(await kindOf(loader.create())).toBe('unavailable')
    expect(existsSync(path)).toBe(false)
  })

  test('another store of the same chain is read as soon as it is noticed, with its own keys; one of another chain is refused until the right one is back', async () => {
    const path = await createFile('chain.sqlite', 3)
    const strange = await createFile('another.sqlite', 2, { ...identity, chainId: identity.chainId + 1 })
    const older = await createFile('older.sqlite', 2)
    runSql(older, 'DELETE FROM "keys"')
    const { server, readHeight } = await openServer(path)
    copyFileSync(path, `${path}.kept`)
    const put = (other: string) =>
      replace(path, () => {
        remove(path)
        renameSync(other, path)
      })
    await put(strange)
    const refused = {
      kind: 'unavailable',
      message: expect.stringContaining('was replaced by a store of another chain'),
    }
    for (const call of [readHeight, () => server.keys.list()]) expect(await failureOf(call())).toMatchObject(refused)
    await put(`${path}.kept`)
    expect([await readHeight(), await server.keys.list()]).toEqual([2, [KEY]])
    await put(older)
    expect([await readHeight(), await server.keys.list()]).toEqual([1, []])
  })

  test('the WAL of the previous file is never read over the pages of another one', async () => {
    const path = await createFile('log.sqlite', 3)
    const { readHeight } = await openServer(path)
    const other = await createFile('under.sqlite', 2)
    // A reader stays open, so SQLite keeps the WAL when the loader closes.
    const loader = openSqlite({ path })
    await commitBatch(await loader.takeOver(identity), tellingBatch(3, 5))
    await loader.close()
    expect(await readHeight()).toBe(5)
    await replace(path, () => renameSync(other, path))
    expect(await failureOf(readHeight())).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining(`${path}-wal still belongs`),
      help: expect.stringContaining(`remove ${path}-wal`),
    })
  })
})

test('a store without its table of keys calls no key unknown, adds none and revokes none', async () => {
  const path = await createFile('keys.sqlite', 3)
  const { server } = await openServer(path)
  runSql(path, 'DROP TABLE "keys"')
  const store = open(path)
  const ring = keyring({ store: server.keys, clock: handClock(0) })
  for (const call of [
    () => server.keys.list(),
    () => ring.check('il_any'),
    () => store.keys.list(),
    () => store.keys.add(KEY),
    () => store.keys.revoke('a', 1),
    () => store.create(),
  ])
    expect(await failureOf(call())).toMatchObject({
      kind: 'damaged',
      message: expect.stringContaining('table keys is gone'),
      help: expect.stringContaining('Restore the file from a copy'),
    })
})
