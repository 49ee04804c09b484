import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Failure } from '#failure/failure.ts'
import { balances } from '#indices/balance.ts'
import { lists } from '#indices/list.ts'
import { pledges } from '#indices/pledge.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { createTable } from '#store/sqlite/tables.ts'
import { KEYS } from '#transfer/digest.ts'
import { manifestText, readManifest } from '#transfer/manifest.ts'
import { restoreFile } from '#transfer/restore.ts'
import { loadedFolder, storeIn } from '../cli/folder.ts'
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
/** Progress reports from one kill to the next. */
const STRIDE = SOAK ? 1 : 3

let folder: CliFolder
let [store, copy, manifest, place] = ['', '', '', '']

beforeAll(async () => {
  folder = await loadedFolder(HEIGHT)
  store = storeIn(folder)
  copy = join(folder.path, 'copy.sqlite')
  manifest = `${copy}.manifest.json`
  place = join(folder.path, 'restored.sqlite')
  const loaded = openSqlite({ path: store })
  await loaded.keys.add({ id: 'key', hash: 'ab', name: 'wallet', perSecond: 1, perDay: 1, created: 1 })
  await loaded.close()
  expect(await folder.run(['backup', copy, '--store', `sqlite:${store}`])).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]()
})

async function restored(from = copy, node = ARCHIVED) {
  const { code, out, err } = await folder.run(['restore', from, '--store', `sqlite:${place}`, '--node', node])
  return { code, out, err }
}
function clear(): void {
  for (const end of ['', '-wal', '-shm', '.partial']) rmSync(`${place}${end}`, { force: true })
}

/** A damaged copy of the backup, with the true manifest next to it. */
function damaged(damage: (path: string) => void): string {
  const path = join(folder.path, 'damaged.sqlite')
  copyFileSync(copy, path)
  copyFileSync(manifest, `${path}.manifest.json`)
  damage(path)
  return path
}

test('restore: the result equals the store, and a second run reports that it is in place', async () => {
  clear()
  const first = await restored()
  expect(first).toMatchObject({ code: 0, out: expect.stringContaining(`at height ${HEIGHT}: `) })
  expect(await restored()).toMatchObject({ code: 0, out: expect.stringContaining('it existed already') })
  expect(dumpSqlite(place)).toEqual(dumpSqlite(store))
})

test('restore: a store in its place with other API keys is not accepted as the copy', async () => {
  const revoke = async (store: Store) => void (await store.keys.revoke('key', 2))
  const add = (store: Store) =>
    store.keys.add({ id: 'other', hash: 'cd', name: 'other', perSecond: 1, perDay: 1, created: 2 })
  for (const change of [revoke, add]) {
    clear()
    await restored()
    const store = openSqlite({ path: place })
    await change(store)
    const keys = await store.keys.list()
    await store.close()
    const { code, err } = await restored()
    expect([code, err]).toEqual([2, expect.stringContaining('its API keys are not those of the manifest')])
    const kept = openSqlite({ path: place, readonly: true })
    expect(await kept.keys.list()).toEqual(keys)
    await kept.close()
  }
})

test('restore: a manifest of an earlier version without API keys is accepted', async () => {
  clear()
  const earlier = damaged(file => {
    const { manifest: now } = readManifest(readFileSync(manifest, 'utf8'), manifest)
    const digests = now.digests.filter(({ index }) => index !== KEYS)
    writeFileSync(`${file}.manifest.json`, manifestText({ ...now, digests }))
  })
  expect(await restored(earlier)).toMatchObject({ code: 0 })
  expect(await restored(earlier)).toMatchObject({ code: 0, out: expect.stringContaining('existed already') })
})

test('restore: a path that other data occupies is refused', async () => {
  clear()
  writeFileSync(place, 'something else')
  expect(await restored()).toMatchObject({ code: 2, err: expect.stringContaining('replaces no store') })
  expect(readFileSync(place, 'utf8')).toBe('something else')
})

/** Restores in this process. Returns the thrown Failure. */
async function refusal(from: string): Promise<Failure> {
  const node = createNode({ urls: [ARCHIVED] })
  const how = { node, signal: new AbortController().signal, onProgress: () => undefined }
  return await failureOf(restoreFile(from, place, how)).finally(() => node.close())
}

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

/** SQL condition for the last row of an index. */
function last(index: AnyIndex): string {
  const { name, key } = createTable(index)
  const columns = key.map(column => `"${column}"`).join(', ')
  const down = key.map(column => `"${column}" DESC`).join(', ')
  return `(${columns}) = (SELECT ${columns} FROM "${name}" ORDER BY ${down} LIMIT 1)`
}

test('restore: a missing, changed or additional document is refused with the name of its index', async () => {
  clear()
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
    expect([sql, kind, message, details]).toEqual([
      sql,
      'damaged',
      expect.stringContaining(`${name} `),
      expect.objectContaining({ index: expect.stringContaining(name.replace(/[.].*/, '')) }),
    ])
    expect(existsSync(place)).toBe(false)
  }
})

test('restore: changed data that no digest covers, a position in a list or an entry of the record, is refused, too', async () => {
  clear()
  for (const sql of [
    'UPDATE "records.places" SET "row" = "row" + 1 WHERE "place" = (SELECT max("place") FROM "records.places")',
    `INSERT INTO "meta" ("key", "value") VALUES ('other', 'x')`,
  ])
    expect((await refusal(changedBy(sql))).message).toContain('one of the two was changed')
})

test('restore: a copy whose API keys were changed is refused, and the message names them', async () => {
  clear()
  const { message } = await refusal(changedBy(`UPDATE "keys" SET "name" = 'another'`))
  expect(message).toContain('its API keys are not those of the manifest')
  expect(existsSync(place)).toBe(false)
})

test('restore: a copy or manifest that is cut, missing, or has any changed byte is refused', async () => {
  clear()
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
  clear()
  const forged = damaged(file => {
    const { manifest: true_ } = readManifest(readFileSync(manifest, 'utf8'), manifest)
    writeFileSync(`${file}.manifest.json`, manifestText({ ...true_, hash: true_.genesis }))
  })
  const { kind, message } = await refusal(forged)
  expect([kind, message]).toEqual(['conflict', expect.stringContaining('they are of different chains')])
})

test('restore: a kill at any progress report leaves no store, and the next run completes', async () => {
  clear()
  const kill = async (at: number): Promise<number> =>
    await Bun.spawn(
      [
        process.execPath,
        join(ROOT, 'test/support/processes/restore-process.ts'),
        ...[ARCHIVED, copy, place, String(at)],
      ],
      { stdout: 'ignore', stderr: 'inherit' },
    ).exited
  let at = 1
  for (; (await kill(at)) !== 0; at += STRIDE) expect(existsSync(place)).toBe(false)
  expect(at).toBeGreaterThan(STRIDE)
  expect(dumpSqlite(place)).toEqual(dumpSqlite(store))
  expect(existsSync(`${place}.partial`)).toBe(false)
})
