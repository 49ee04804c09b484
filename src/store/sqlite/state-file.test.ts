import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { wealth } from '#indices/wealth.ts'
import { wealthDoc } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/support/refusal.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { openScratchFolder } from './lock.ts'
import { openStateFile } from './state-file.ts'
import { getUsagePath, openSqliteUsage } from './usage.ts'

const folder = testFolder()
const mark = { store: 's', stamp: 7, hash: 'h', batch: 'b' }
const changes = [{ index: wealth, doc: wealthDoc('a', 1n) }] as const

test('openStateFile: documents and mark outlive the process, and a failed write changes neither', async () => {
  const path = join(folder, 'new', 'state.sqlite')
  const file = openStateFile(path)
  expect([file.mark, file.get(wealth, 'a')]).toEqual([undefined, undefined])
  await file.put(changes, mark)
  const failing = function* () {
    yield { index: wealth, doc: wealthDoc('a', 2n) } as const
    throw new Error('gone')
  }
  await expect(file.put(failing(), { ...mark, stamp: 8 })).rejects.toThrow('gone')
  expect(await failureOf(Promise.resolve().then(() => openStateFile(path)))).toMatchObject({ kind: 'conflict' })
  file.close()
  const again = openStateFile(path)
  expect([again.mark, again.get(wealth, 'a')]).toEqual([mark, wealthDoc('a', 1n)])
  await again.clear()
  expect([again.mark, again.get(wealth, 'a')]).toEqual([undefined, undefined])
  again.close()
})

/** Overwrites a file of 5,000 documents from a part of its length on. The header stays. */
async function damageFile(name: string, from: number): Promise<string> {
  const path = join(folder, name)
  const file = openStateFile(path)
  const docs = Array.from({ length: 5_000 }, (_, n) => ({ index: wealth, doc: wealthDoc(`account_${n}`, 1n) }))
  await file.put(docs, mark)
  file.close()
  const bytes = readFileSync(path)
  bytes.fill(0xff, Math.max(100, Math.floor(bytes.length * from)))
  writeFileSync(path, bytes)
  rmSync(`${path}-wal`, { force: true })
  return path
}

test('openStateFile: a damaged file is emptied, since the store has the same state; damage that is found by a read ends the session first', async () => {
  const damaged = openStateFile(await damageFile('damaged.sqlite', 0))
  expect([damaged.mark, damaged.get(wealth, 'account_0')]).toEqual([undefined, undefined])
  damaged.close()
  // The schema is at the beginning.
  const path = await damageFile('torn.sqlite', 0.8)
  const torn = openStateFile(path)
  const readAll = async () => Array.from({ length: 5_000 }, (_, n) => torn.get(wealth, `account_${n}`))
  expect(await failureOf(readAll())).toMatchObject({ kind: 'unavailable', retryable: true })
  torn.close()
  const again = openStateFile(path)
  expect(again.mark).toBeUndefined()
  again.close()
})

test('openStateFile: a missing document of the last batch is damage, after which the next session begins with an empty file', async () => {
  const path = join(folder, 'gap.sqlite')
  const file = openStateFile(path)
  await file.commit(batchAt(2, 10n), { mark, before: '1' })
  file.close()
  const db = new Database(path)
  db.run('DELETE FROM "wealth"')
  db.close()
  const gap = openStateFile(path)
  expect(await failureOf((async () => gap.unsent())())).toMatchObject({ kind: 'unavailable', retryable: true })
  gap.close()
  const again = openStateFile(path)
  expect(again.mark).toBeUndefined()
  again.close()
})

test('openStateFile: a file of another program is refused by name, and stays', async () => {
  const text = join(folder, 'text.sqlite')
  writeFileSync(text, 'a text of some length that is no database at all')
  const other = join(folder, 'other.sqlite')
  const db = new Database(other)
  db.run('CREATE TABLE "meta" ("key" TEXT, "value" TEXT)')
  db.close()
  for (const path of [text, other]) {
    const failure = await failureOf(Promise.resolve().then(() => openStateFile(path)))
    expect([failure.kind, failure.message]).toEqual(['conflict', `${path} is no state file of this program.`])
    expect(existsSync(path)).toBe(true)
  }
})

const END = { hash: 'h', time: 1n, lib: 0 }
/** A batch near the node's last irreversible block, so that what it replaces is kept. */
const batchAt = (height: number, total: bigint, before?: bigint) => ({
  first: height,
  end: { ...END, height, lib: height },
  changes: [
    {
      index: wealth,
      doc: wealthDoc('a', total),
      ...(before === undefined ? {} : { before: wealthDoc('a', before) }),
    } as const,
  ],
})

test('commit: a batch is unsent until the store has it, also for the next process, and can be read as it was before', async () => {
  const path = join(folder, 'unsent.sqlite')
  const parseEnd = (before: string) => Number(before)
  const file = openStateFile(path)
  await file.put([], { ...mark, stamp: 1 })
  await file.commit(batchAt(2, 10n), { mark: { ...mark, stamp: 2 }, before: '1' })
  expect(file.unsent()).toEqual([{ index: wealth, doc: wealthDoc('a', 10n) }])
  file.close()
  const again = openStateFile(path)
  expect([again.mark?.stamp, again.unsent()]).toEqual([2, [{ index: wealth, doc: wealthDoc('a', 10n) }]])
  await again.sent()
  expect(again.unsent()).toBeUndefined()
  await again.commit(batchAt(3, 20n, 10n), { mark: { ...mark, stamp: 3 }, before: '2' })
  await again.sent()
  const documents = (doc: object | undefined) => [{ index: wealth, id: 'a', doc }]
  expect<unknown>(again.takeBack({ from: 3, height: 2 }, parseEnd)).toEqual({
    before: '2',
    documents: documents(wealthDoc('a', 10n)),
  })
  expect<unknown>(again.takeBack({ from: 3, height: 1 }, parseEnd)).toEqual({
    before: '1',
    documents: documents(undefined),
  })
  // Nothing was changed, and nothing is kept below.
  expect(again.get(wealth, 'a')).toEqual(wealthDoc('a', 20n))
  expect(again.takeBack({ from: 3, height: 0 }, parseEnd)).toBeUndefined()
  expect(again.takeBack({ from: 4, height: 2 }, parseEnd)).toBeUndefined()
  // A file that is filled from the store has nothing to send.
  await again.commit(batchAt(4, 30n, 20n), { mark: { ...mark, stamp: 4 }, before: '3' })
  await again.put([], { ...mark, stamp: 9 })
  expect(again.unsent()).toBeUndefined()
  again.close()
})

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

/** Opens a folder, prints its path, and keeps running. */
const program = (parent: string): string => `
  import { openScratchFolder } from ${JSON.stringify(join(import.meta.dir, 'lock.ts'))}
  const folder = openScratchFolder(${JSON.stringify(parent)}, 'audit-')
  await Bun.write(folder.path + '/scratch.sqlite', 'much')
  console.log(folder.path)
  setInterval(() => folder.path, 1000)`

test('openScratchFolder: leftovers of a killed process are removed, and files in use and other files are kept', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'iostlens-'))
  const child = Bun.spawn([process.execPath, '-e', program(parent)], { stdout: 'pipe' })
  try {
    mkdirSync(join(parent, 'other'))
    writeFileSync(join(parent, 'audit-file'), '')
    const line = await child.stdout.getReader().read()
    const theirs = basename(new TextDecoder().decode(line.value).trim())

    const first = openScratchFolder(parent, 'audit-')
    const beside = openScratchFolder(parent, 'audit-')
    const names = (...folders: readonly { readonly path: string }[]) => folders.map(({ path }) => basename(path))
    expect(readdirSync(parent).sort()).toEqual([theirs, ...names(first, beside), 'audit-file', 'other'].sort())
    beside.close()

    child.kill('SIGKILL')
    await child.exited
    const second = openScratchFolder(parent, 'audit-')
    expect(readdirSync(parent).sort()).toEqual([...names(first, second), 'audit-file', 'other'].sort())
    first.close()
    second.close()
    expect(readdirSync(parent).sort()).toEqual(['audit-file', 'other'])
  } finally {
    child.kill('SIGKILL')
    rmSync(parent, { recursive: true, force: true })
  }
})

test('getUsagePath: each store in a folder has its own file', () => {
  expect(['iostlens.sqlite', 'a.sqlite'].map(name => getUsagePath(`/x/${name}`))).toEqual([
    '/x/usage.sqlite',
    '/x/a.sqlite.usage',
  ])
})
