import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { keyring } from '#keys/keyring.ts'
import type { Identity, StoredKey } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { LOOK_MS } from '#store/sqlite/readers.ts'
import { identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { failureOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { testFolder } from '#test/support/test-folder.ts'

const folder = testFolder()

const KEY: StoredKey = { id: 'a', hash: 'h', name: 'n', perSecond: 1, perDay: 1, created: 1 }

async function made(file: string, height: number, { of = identity }: { readonly of?: Identity } = {}) {
  const path = join(folder, file)
  const store = openSqlite({ path })
  await store.create()
  const writer = await store.takeOver(of)
  await commitBatch(writer, tellingBatch(0, height))
  await writer.release()
  if (height === 3) await store.keys.add(KEY)
  await store.close()
  return path
}
function removed(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}
/** Lets the time pass for which an earlier look at the path counts. */
const lookDue = () => Bun.sleep(2 * LOOK_MS)
async function reading(path: string) {
  const server = openSqlite({ path, readonly: true })
  const height = () => server.read(async ({ at }) => at.height)
  expect(await height()).toBe(3)
  expect(await server.keys.list()).toEqual([KEY])
  return { server, height }
}

describe('a file that is replaced under its readers', () => {
  test('a missing or empty file: no request is answered, no key accepted, and no file created', async () => {
    for (const damage of [removed, (path: string) => truncateSync(path)]) {
      const path = await made('gone.sqlite', 3)
      const { server, height } = await reading(path)
      damage(path)
      await lookDue()
      for (const call of [height, () => server.published(), () => server.keys.list()]) {
        const { kind, message, help } = await failureOf(call())
        expect([kind, message]).toEqual(['unavailable', `sqlite:${path} was in use and is now gone or empty.`])
        expect(help).toMatch(/Put it back/)
      }
      await server.close()
      removed(path)
    }
    const path = await made('made.sqlite', 3)
    const loader = openSqlite({ path })
    expect((await loader.published())?.height).toBe(3)
    removed(path)
    expect((await failureOf(loader.create())).kind).toBe('unavailable')
    expect(existsSync(path)).toBe(false)
    await loader.close()
  })

  test('another store of the same chain is read as soon as it is noticed, with its own keys; one of another chain is refused until the right one is back', async () => {
    const path = await made('chain.sqlite', 3)
    const other = await made('another.sqlite', 1, { of: { ...identity, chainId: identity.chainId + 1 } })
    const { server, height } = await reading(path)
    const kept = `${path}.kept`
    copyFileSync(path, kept)
    removed(path)
    renameSync(other, path)
    await lookDue()
    const refused = {
      kind: 'unavailable',
      message: expect.stringContaining('was replaced by a store of another chain'),
    }
    for (const call of [height, () => server.keys.list()]) expect(await failureOf(call())).toMatchObject(refused)
    removed(path)
    renameSync(kept, path)
    await lookDue()
    expect(await height()).toBe(3)
    expect(await server.keys.list()).toEqual([KEY])
    removed(path)
    renameSync(await made('older.sqlite', 1), path)
    await lookDue()
    expect(await height()).toBe(1)
    expect(await server.keys.list()).toEqual([])
    await server.close()
  })

  test('the WAL of the previous file is never read over the pages of another one', async () => {
    const path = await made('log.sqlite', 3)
    const { server, height } = await reading(path)
    const other = await made('under.sqlite', 1)
    // A reader stays open, so SQLite keeps the WAL when the loader closes.
    const loader = openSqlite({ path })
    await loader.create()
    const writer = await loader.takeOver(identity)
    await commitBatch(writer, tellingBatch(4, 5))
    await loader.close()
    expect(await height()).toBe(5)
    renameSync(other, path)
    await lookDue()
    const { kind, message, help } = await failureOf(height())
    expect([kind, message.includes(`${path}-wal still belongs`)]).toEqual(['unavailable', true])
    expect(help).toContain(`remove ${path}-wal`)
    await server.close()
  })
})

test('a store without its table of keys calls no key unknown, adds none and revokes none', async () => {
  const path = await made('keys.sqlite', 3)
  const { server } = await reading(path)
  const other = new Database(path)
  other.run('DROP TABLE "keys"')
  other.close()
  const store = openSqlite({ path })
  const ring = keyring({ store: server.keys, clock: handClock(0) })
  for (const call of [
    () => server.keys.list(),
    () => ring.check('il_any'),
    () => store.keys.list(),
    () => store.keys.add(KEY),
    () => store.keys.revoke('a', 1),
    () => store.create(),
  ]) {
    const { kind, message, help } = await failureOf(call())
    expect([kind, message.includes('table keys is gone')]).toEqual(['damaged', true])
    expect(help).toMatch(/Restore the file from a copy/)
  }
  await server.close()
  await store.close()
})
