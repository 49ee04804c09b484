import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { batchOf, identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
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
async function verdict(call: Promise<unknown>) {
  const { kind, retryable, message } = await failureOf(call)
  return { kind, retryable, message }
}

describe('files', () => {
  test('looking at a missing store in any way creates no file', async () => {
    const path = join(folder, 'nowhere', 'store.sqlite')
    const store = openSqlite({ path })
    expect(await store.published()).toBeUndefined()
    expect(await store.keys.list()).toEqual([])
    expect((await store.check()).length).toBeGreaterThan(15)
    await failureOf(store.takeOver(identity))
    await failureOf(store.read(async () => 1))
    await store.close()
    expect(existsSync(join(folder, 'nowhere'))).toBe(false)
  })

  test('a server that started first sees the store as soon as it is created and loaded', async () => {
    const path = join(folder, 'later', 'store.sqlite')
    const server = openSqlite({ path, readonly: true })
    expect(await server.published()).toBeUndefined()
    const loader = openSqlite({ path })
    await loader.create()
    expect(await server.published()).toBeUndefined()
    await commitBatch(await loader.takeOver(identity), batchOf(0, 1))
    expect(await server.read(async ({ at }) => at.height)).toBe(1)
    await loader.close()
    await server.close()
  })

  test('an empty file is a store that was not created, and create makes it one', async () => {
    const path = join(folder, 'empty.sqlite')
    writeFileSync(path, '')
    const store = openSqlite({ path })
    expect(await store.published()).toBeUndefined()
    expect((await failureOf(store.takeOver(identity))).kind).toBe('conflict')
    await store.create()
    expect(await store.check()).toEqual([])
    await store.close()
  })

  test('an unreadable record in a file without a block is refused, as there is nothing to restore it from', async () => {
    const { path, store } = await made('no-block.sqlite', 0)
    const file = new Database(path)
    file.run(`INSERT OR REPLACE INTO "meta" ("key", "value") VALUES ('published', '?')`)
    file.close()
    const failure = await failureOf(store.restore())
    expect(failure.kind).toBe('damaged')
    expect(failure.help).toContain('load it again')
    await store.close()
  })

  test('another program’s database is refused by every call and unchanged', async () => {
    const path = join(folder, 'foreign.sqlite')
    const foreign = new Database(path)
    foreign.run('CREATE TABLE "theirs" ("a" TEXT)')
    foreign.close()
    const before = await Bun.file(path).bytes()
    const store = openSqlite({ path })
    const refused = {
      kind: 'conflict',
      retryable: false,
      message: `sqlite:${path} is a file of another program: its application id is 0, expected 1768911732.`,
    }
    const key = { id: 'a', hash: '', name: '', perSecond: 1, perDay: 1, created: 1 }
    for (const call of [
      () => store.create(),
      () => store.check(),
      () => store.published(),
      () => store.read(async () => 1),
      () => store.takeOver(identity),
      () => store.keys.list(),
      () => store.keys.add(key),
    ])
      expect(await verdict(call())).toEqual(refused as never)
    await store.close()
    expect(await Bun.file(path).bytes()).toEqual(before)
  })

  test('a file that is not a database is refused and unchanged', async () => {
    const path = join(folder, 'notes.txt')
    const text = 'notes of somebody, longer than the header of a database '.repeat(20)
    writeFileSync(path, text)
    const store = openSqlite({ path })
    const refused = {
      kind: 'conflict',
      retryable: false,
      message: `sqlite:${path} is not an SQLite file (SQLITE_NOTADB).`,
    }
    for (const call of [() => store.create(), () => store.published(), () => store.takeOver(identity)])
      expect(await verdict(call())).toEqual(refused as never)
    await store.close()
    expect(await Bun.file(path).text()).toBe(text)
  })

  test('a folder or a pipe in place of the file is refused at once', async () => {
    const path = join(folder, 'a-folder')
    await mkdir(path)
    const pipe = join(folder, 'a-pipe')
    expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0)
    for (const each of [path, pipe]) {
      const store = openSqlite({ path: each })
      const refused = { kind: 'unavailable', retryable: false, message: `sqlite:${each} is not a file.` }
      for (const call of [() => store.create(), () => store.published(), () => store.takeOver(identity)])
        expect(await verdict(call())).toEqual(refused as never)
      await store.close()
    }
  })

  test('a path below a file, or with too long a name, is refused with a remedy', async () => {
    const file = join(folder, 'a-file')
    writeFileSync(file, '')
    const long = join(folder, 'x'.repeat(300))
    for (const path of [join(file, 'x.sqlite'), join(file, 'deeper', 'x.sqlite'), long]) {
      const store = openSqlite({ path })
      const { create, published, takeOver, check, keys } = store
      for (const call of [
        () => create(),
        () => published(),
        () => takeOver(identity),
        () => check(),
        () => keys.list(),
      ]) {
        const { kind, retryable, message } = await verdict(call())
        expect([kind, retryable]).toEqual(['unavailable', false])
        expect(message).toStartWith(`sqlite:${path}`)
      }
      await store.close()
    }
  })

  test('a truncated file is reported as damaged, never as an empty store', async () => {
    const { path, store } = await made('cut.sqlite', 300)
    await store.close()
    const reopened = new Database(path)
    reopened.run('PRAGMA wal_checkpoint(TRUNCATE)')
    reopened.close()
    truncateSync(path, 4096 * 10)
    const cut = openSqlite({ path })
    const { kind, retryable, message } = await verdict(cut.read(view => view.records(listOfAll, 1, 300)))
    expect([kind, retryable, message.includes(path)]).toEqual(['damaged', false, true])
    await cut.close()
  })

  test('a store with another schema is refused by readers, too', async () => {
    const { path, store } = await made('schema.sqlite', 1)
    await store.close()
    const db = new Database(path)
    db.run(`UPDATE "meta" SET "value" = 'another' WHERE "key" = 'schema'`)
    db.close()
    const other = openSqlite({ path })
    for (const call of [() => other.published(), () => other.read(async () => 1), () => other.create()]) {
      const { kind, message, help } = await failureOf(call())
      expect([kind, message.includes('another'), help?.includes('iostlens indices check')]).toEqual([
        'conflict',
        true,
        true,
      ])
    }
    expect((await other.check()).map(({ name, problem }) => [name, problem])).toEqual([['meta', 'different']])
    await other.close()
  })

  test('a table that is missing after a load is not created again, but an index is', async () => {
    const { path, store } = await made('gone.sqlite', 1)
    await store.close()
    const drop = (what: string) => {
      const db = new Database(path)
      db.run(`DROP ${what}`)
      db.close()
    }
    drop('INDEX "wealth.richest"')
    const other = openSqlite({ path })
    const missing = { name: 'wealth.richest', problem: 'missing', detail: 'index does not exist' } as const
    expect(await other.check()).toEqual([missing])
    await other.create()
    expect(await other.check()).toEqual([])
    drop('TABLE "votes"')
    const { kind, message } = await failureOf(other.create())
    expect([kind, message]).toEqual([
      'damaged',
      `sqlite:${path}: table votes is gone, with the data that was loaded into it.`,
    ])
    await other.close()
  })

  test('readonly: writing calls are refused', async () => {
    const { path, store } = await made('readonly.sqlite', 1)
    await store.close()
    const reader = openSqlite({ path, readonly: true })
    for (const call of [() => reader.create(), () => reader.takeOver(identity), () => reader.keys.revoke('a', 1)])
      expect(await verdict(call())).toEqual({
        kind: 'conflict',
        retryable: false,
        message: `sqlite:${path} is opened read-only.`,
      } as never)
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

  test('a loader whose file is removed stops instead of writing to a deleted file', async () => {
    const { path, store } = await made('moved.sqlite', 2)
    const writer = await store.takeOver(identity)
    renameSync(path, `${path}.old`)
    const { kind, message } = await failureOf(commitBatch(writer, tellingBatch(2, 3)))
    expect([kind, message]).toEqual(['conflict', `sqlite:${path} was removed or replaced during loading.`])
    await store.close()
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

const listOfAll = { id: 'account/alice', number: 1, count: 300, starts: [[0, 1]] } as const
