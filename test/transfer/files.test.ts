import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { balances } from '#indices/balance.ts'
import { lists } from '#indices/list.ts'
import { pledges } from '#indices/pledge.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { copyStore } from '#store/sqlite/backup.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { getTable } from '#store/sqlite/tables.ts'
import { describeCopy, manifestText, readManifest } from '#transfer/backup.ts'
import { KEYS } from '#transfer/digest.ts'
import { restoreFile } from '#transfer/restore.ts'
import { expectEnd, loadedFolder, storeIn } from '../cli/folder.ts'
import type { CliFolder } from '../support/processes/cli-process.ts'
import { SOAK } from '../support/processes/soak.ts'
import { failureOf } from '../support/refusal.ts'
import { ROOT } from '../support/root.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { dumpSqlite } from '../support/stores/dump.ts'
import { ARCHIVED } from '../support/stores/loading.ts'

const HEIGHT = 150
const SEED = seedOf(23)
/** Number of copies with a changed byte, or cut. */
const ROUNDS = SOAK ? 100 : 10
/** Progress reports of a restore, and calls of a backup, from one kill to the next. */
const STRIDE = SOAK ? 1 : 3

let folder: CliFolder
let [store, copy, manifest, place, made] = ['', '', '', '', '']

beforeAll(async () => {
  folder = await loadedFolder(HEIGHT)
  store = storeIn(folder)
  copy = join(folder.path, 'copy.sqlite')
  manifest = `${copy}.manifest.json`
  place = join(folder.path, 'restored.sqlite')
  made = join(folder.path, 'made.sqlite')
  const loaded = openSqlite({ path: store })
  await loaded.keys.add({ id: 'key', hash: 'ab', name: 'wallet', perSecond: 1, perDay: 1, created: 1 })
  await loaded.close()
  await expectEnd(folder, ['backup', copy, '--store', `sqlite:${store}`], 0, '')
})
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]()
})

const expectRestored = (code: number, says: string, from = copy) =>
  expectEnd(folder, ['restore', from, '--store', `sqlite:${place}`, '--node', ARCHIVED], code, says)
const beside = (path: string): readonly string[] =>
  readdirSync(folder.path)
    .filter(name => join(folder.path, name).startsWith(path))
    .sort()
function clear(path = place): void {
  for (const name of beside(path)) rmSync(join(folder.path, name))
}
beforeEach(() => clear())

/** A damaged copy of the backup, with the true manifest next to it. */
function damaged(damage: (path: string) => void): string {
  const path = join(folder.path, 'damaged.sqlite')
  copyFileSync(copy, path)
  copyFileSync(manifest, `${path}.manifest.json`)
  damage(path)
  return path
}

test('restore: the result equals the store, and a second run reports that it is in place', async () => {
  await expectRestored(0, `at height ${HEIGHT}: `)
  await expectRestored(0, 'it existed already')
  expect(dumpSqlite(place)).toEqual(dumpSqlite(store))
})

test('restore: a store in its place with other API keys is not accepted as the copy', async () => {
  const revoke = async (store: Store) => void (await store.keys.revoke('key', 2))
  const add = (store: Store) =>
    store.keys.add({ id: 'other', hash: 'cd', name: 'other', perSecond: 1, perDay: 1, created: 2 })
  for (const change of [revoke, add]) {
    clear()
    await expectRestored(0, '')
    const store = openSqlite({ path: place })
    await change(store)
    const keys = await store.keys.list()
    await store.close()
    await expectRestored(2, 'its API keys are not those of the manifest')
    const kept = openSqlite({ path: place, readonly: true })
    expect(await kept.keys.list()).toEqual(keys)
    await kept.close()
  }
})

test('restore: a manifest of an earlier version without API keys is accepted', async () => {
  const earlier = damaged(file => {
    const { manifest: now } = readManifest(readFileSync(manifest, 'utf8'), manifest)
    const digests = now.digests.filter(({ index }) => index !== KEYS)
    writeFileSync(`${file}.manifest.json`, manifestText({ ...now, digests }))
  })
  for (const says of ['', 'existed already']) await expectRestored(0, says, earlier)
})

test('restore: a path that other data occupies is refused', async () => {
  writeFileSync(place, 'something else')
  await expectRestored(2, 'replaces no store')
  expect(readFileSync(place, 'utf8')).toBe('something else')
})

const how = { signal: new AbortController().signal, onProgress: () => undefined }

async function restoreHere(from: string): Promise<void> {
  const node = createNode({ urls: [ARCHIVED] })
  await restoreFile(from, place, { ...how, node }).finally(() => node.close())
}
const refusal = (from: string): Promise<Failure> => failureOf(restoreHere(from))

/** A copy of which a statement changed one row. */
const changedBy = (sql: string): string =>
  damaged(file => {
    const database = new Database(file)
    const { changes } = database.run(sql)
    database.close()
    if (changes !== 1) throw new Error(`${sql} changed ${changes} rows.`)
  })

const hasDocuments = ({ name }: AnyIndex): boolean =>
  readManifest(readFileSync(manifest, 'utf8'), manifest).manifest.digests.some(
    ({ index, documents }) => index === name && documents > 0,
  )

function last(index: AnyIndex): string {
  const { name, key } = getTable(index)
  const columns = key.map(column => `"${column}"`).join(', ')
  const down = key.map(column => `"${column}" DESC`).join(', ')
  return `(${columns}) = (SELECT ${columns} FROM "${name}" ORDER BY ${down} LIMIT 1)`
}

test('restore: a missing, changed or additional document is refused with the name of its index', async () => {
  const damages = [
    ...[...historyIndices, ...stateIndices]
      .filter(hasDocuments)
      // Every run loses a document of some indices, and changes one of others.
      .filter((_, at) => SOAK || at % 4 === 0)
      .map(index => [index.name, `DELETE FROM "${index.name}" WHERE ${last(index)}`] as const),
    ['balances', `UPDATE balances SET "amount" = "amount" + 1 WHERE ${last(balances)}`],
    ['lists', `UPDATE lists SET "count" = "count" + 1 WHERE ${last(lists)}`],
    ['lists.starts', `UPDATE lists SET "starts" = '[[0,2]]' WHERE ${last(lists)}`],
    ['records', `UPDATE records SET "to" = "to" || 'x' WHERE ${last(records)}`],
    ['pledges', `UPDATE pledges SET "id" = "id" || 'x' WHERE ${last(pledges)}`],
  ] as const
  for (const [name, sql] of damages) {
    const { kind, message, details } = await refusal(changedBy(sql))
    expect([sql, kind, message]).toEqual([sql, 'damaged', expect.stringContaining(`${name} `)])
    expect(String(details?.['index'])).toContain(name.replace(/[.].*/, ''))
    expect(existsSync(place)).toBe(false)
  }
})

test('restore: changed data that no digest covers, a position in a list or an entry of the record, is refused, too', async () => {
  for (const sql of [
    'UPDATE "records.places" SET "row" = "row" + 1 WHERE "place" = (SELECT max("place") FROM "records.places")',
    `INSERT INTO "meta" ("key", "value") VALUES ('other', 'x')`,
  ])
    expect((await refusal(changedBy(sql))).message).toContain('one of the two was changed')
})

test('restore: a copy whose API keys were changed is refused, and the message names them', async () => {
  const { message } = await refusal(changedBy(`UPDATE "keys" SET "name" = 'another'`))
  expect(message).toContain('its API keys are not those of the manifest')
  expect(existsSync(place)).toBe(false)
})

test('restore: a copy or manifest that is cut, missing, or has any changed byte is refused', async () => {
  const random = seeded(SEED)
  for (let round = 0; round < ROUNDS; round++) {
    const path = damaged(file => {
      const of = round % 2 === 1 ? `${file}.manifest.json` : file
      const bytes = readFileSync(of)
      const at = Math.floor(random() * bytes.length)
      // Of the manifest, all but whitespace between its members is significant.
      if (round % 10 === 0) return writeFileSync(of, bytes.subarray(0, at))
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 3))
      writeFileSync(of, bytes)
    })
    expect([SEED, round, (await refusal(path)).message]).toEqual([SEED, round, expect.stringMatching(/./)])
    expect(existsSync(place)).toBe(false)
  }
  for (const end of ['', '.manifest.json']) {
    const path = damaged(file => rmSync(`${file}${end}`))
    expect((await refusal(path)).message).toContain('There is no')
  }
})

test('restore: a copy of another chain is refused', async () => {
  const forged = damaged(file => {
    const { manifest: true_ } = readManifest(readFileSync(manifest, 'utf8'), manifest)
    writeFileSync(`${file}.manifest.json`, manifestText({ ...true_, hash: true_.genesis }))
  })
  const { kind, message } = await refusal(forged)
  expect([kind, message]).toEqual(['conflict', expect.stringContaining('they are of different chains')])
})

test('restore: a kill at any progress report leaves no store, and the next run completes', async () => {
  const program = [process.execPath, join(ROOT, 'test/support/processes/restore-process.ts')]
  const kill = (at: number): Promise<number> =>
    Bun.spawn([...program, ARCHIVED, copy, place, String(at)], { stdout: 'ignore', stderr: 'inherit' }).exited
  let at = 1
  for (; (await kill(at)) !== 0; at += STRIDE) expect(existsSync(place)).toBe(false)
  expect(at).toBeGreaterThan(STRIDE)
  expect(dumpSqlite(place)).toEqual(dumpSqlite(store))
  expect(existsSync(`${place}.partial`)).toBe(false)
})

/** Number of lengths of the copy at which the process is killed. */
const STEPS = SOAK ? 12 : 2
/** More bytes than any file that SQLite writes before the copy. */
const BEFORE = 65_536

/** Runs the backup program and returns the reason of its end. Unexpected output is returned instead. */
async function backup({ call = 0, bytes = 0 }): Promise<'done' | 'killed' | string> {
  const program = join(ROOT, 'test/support/processes/backup-process.ts')
  const words = [program, store, made, String(call), String(bytes)]
  const running = Bun.spawn([process.execPath, ...words], { stdout: 'ignore', stderr: 'pipe' })
  const [said, code] = await Promise.all([new Response(running.stderr).text(), running.exited])
  if (running.signalCode === (bytes > 0 ? 'SIGXFSZ' : 'SIGKILL')) return 'killed'
  return code === 0 ? 'done' : said
}

async function restored(): Promise<string> {
  clear()
  const failure = await restoreHere(made).catch(String)
  if (failure !== undefined) return failure
  expect(dumpSqlite(place)).toEqual(dumpSqlite(store))
  return 'whole'
}

async function again() {
  try {
    const describe = async (partial: string) => void (await describeCopy(partial, made, how))
    const { height } = await copyStore({ path: store, name: store }, made, { beforeNaming: describe })
    return { height }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { kind: error.kind, help: error.help }
  }
}

/** After a kill there is no copy or a complete one. The next run makes a copy, or reports that one exists. */
async function requireMended(where: string): Promise<void> {
  const isThere = existsSync(made)
  expect([where, await restored()]).toEqual([where, isThere ? 'whole' : expect.stringContaining(`There is no ${made}`)])
  const exists = { kind: 'usage' as const, help: 'Name a file that does not exist yet, or remove this one.' }
  expect([where, await again()]).toEqual([where, isThere ? exists : { height: HEIGHT }])
  expect([where, beside(made)]).toEqual([where, ['made.sqlite', 'made.sqlite.manifest.json']])
  expect([where, await restored()]).toEqual([where, 'whole'])
}

test('backup: a kill before any file system call leaves no copy or a complete one, and the next run succeeds', async () => {
  let [kills, found] = [0, 0]
  for (let call = 1; ; call += STRIDE) {
    clear(made)
    const end = await backup({ call })
    if (end !== 'killed') {
      expect(end).toBe('done')
      break
    }
    kills += 1
    if (existsSync(made)) found += 1
    await requireMended(`call ${call}`)
  }
  // Some kills came before the copy got its name, and some after.
  expect(found).toBeGreaterThan(0)
  expect(kills).toBeGreaterThan(found + 2)
})

test('backup: a kill while SQLite writes the copy leaves none, and the next run succeeds', async () => {
  clear(made)
  expect(await backup({})).toBe('done')
  const { size } = statSync(made)
  for (let step = 1; step <= STEPS; step++) {
    clear(made)
    const bytes = BEFORE + Math.floor(((size - BEFORE) * (step - 1)) / STEPS)
    expect([bytes, await backup({ bytes })]).toEqual([bytes, 'killed'])
    expect([bytes, existsSync(made), beside(`${made}.partial`).length > 0]).toEqual([bytes, false, true])
    await requireMended(`byte ${bytes}`)
  }
})
