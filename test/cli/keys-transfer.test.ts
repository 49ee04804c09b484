import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOfKey } from '#keys/keyring.ts'
import type { StoredKey } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { parseKeys } from '#transfer/keys.ts'
import { cliFolder } from '../support/processes/cli-process.ts'

const MANY = 3_000
const keys: readonly StoredKey[] = Array.from({ length: MANY }, (_, number) => ({
  ...{ id: hashOfKey(`id ${number}`).slice(0, 10), hash: hashOfKey(`key ${number}`), name: `holder ${number} 猫` },
  ...{ perSecond: 1 + number, perDay: 100 + number, created: 1_767_225_600_000 },
  ...(number % 3 === 0 ? { note: 'a note' } : {}),
  ...(number % 5 === 0 ? { expires: 1_900_000_000_000 } : {}),
  ...(number % 7 === 0 ? { revoked: 1_800_000_000_000 } : {}),
}))
const byId = (all: readonly StoredKey[]) => all.toSorted((a, b) => (a.id < b.id ? -1 : 1))

async function storeIn<T>(path: string, work: (store: ReturnType<typeof openSqlite>) => Promise<T>): Promise<T> {
  const store = openSqlite({ path })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

test('keys export, keys import: another store gets the same keys, and a repetition changes nothing', async () => {
  await using folder = await cliFolder()
  const [one, two] = [join(folder.path, 'one.sqlite'), join(folder.path, 'two.sqlite')]
  await storeIn(one, async store => {
    await store.create()
    await store.keys.add(...keys)
  })
  const file = join(folder.path, 'keys.ndjson')
  const exported = await folder.run(['keys', 'export', file, '--store', `sqlite:${one}`])
  expect(exported).toMatchObject({ code: 0, out: `Wrote ${MANY} API keys of sqlite:${one} to ${file}.\n` })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(byId(parseKeys(readFileSync(file, 'utf8'), file).keys)).toEqual(byId(keys))
  const imported = () => folder.run(['keys', 'import', file, '--store', `sqlite:${two}`])
  for (let times = 0; times < 2; times++) {
    expect(await imported()).toMatchObject({ code: 0 })
    expect(await storeIn(two, async store => byId(await store.keys.list()))).toEqual(byId(keys))
  }
  // A key that was revoked in the store since stays revoked.
  const valid = keys.find(({ revoked }) => revoked === undefined)?.id ?? ''
  await storeIn(two, store => store.keys.revoke(valid, 5))
  expect((await imported()).code).toBe(0)
  const revoked = await storeIn(two, async store => (await store.keys.list()).find(({ id }) => id === valid)?.revoked)
  expect(revoked).toBe(5)
  // An export replaces no file.
  expect((await folder.run(['keys', 'export', file, '--store', `sqlite:${one}`])).code).toBe(2)
})

test('keys import: a file that is cut or changed is refused, with what is wrong', async () => {
  await using folder = await cliFolder()
  const store = join(folder.path, 'one.sqlite')
  await storeIn(store, async ({ create, keys: own }) => {
    await create()
    await own.add(...keys.slice(0, 3))
  })
  const file = join(folder.path, 'keys.ndjson')
  expect((await folder.run(['keys', 'export', file, '--store', `sqlite:${store}`])).code).toBe(0)
  const text = readFileSync(file, 'utf8')
  const lines = text.split('\n')
  const broken: readonly (readonly [text: string, says: string])[] = [
    [text.slice(0, -1), 'does not end with a line end'],
    [text.slice(0, text.indexOf('\n') + 1), 'has no last line with the number of its keys'],
    [lines.slice(1).join('\n'), 'has 2 keys, but its last line says 3'],
    [text.replace('"perDay":100', '"perDay":0'), 'that is not a key'],
    [text.replace(/"hash":"../, '"hash":"xx'), 'that is not a key'],
    [[lines[0], lines[0], ...lines.slice(2)].join('\n'), 'twice'],
    ['', 'has no last line'],
  ]
  const other = join(folder.path, 'two.sqlite')
  for (const [changed, says] of broken) {
    writeFileSync(file, changed)
    const { code, err } = await folder.run(['keys', 'import', file, '--store', `sqlite:${other}`])
    expect([says, code, err]).toEqual([says, 2, expect.stringContaining(says)])
  }
  expect((await folder.run(['keys', 'list', '--store', `sqlite:${other}`])).code).toBe(2)
})

test('keys export: from a damaged file all keys that can be read are written', async () => {
  await using folder = await cliFolder()
  const path = join(folder.path, 'one.sqlite')
  await storeIn(path, async store => {
    await store.create()
    await store.keys.add(...keys)
  })
  const database = new Database(path)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const size = Number(Object.values(database.query('PRAGMA page_size').get() as object)[0])
  database.close()
  // Destroys some leaves of the table's tree: the first byte of a page says what it is, the fourth and fifth how many
  // rows it has (sqlite.org/fileformat2.html#b_tree_pages).
  const bytes = readFileSync(path)
  const pages = new Set(keys.map(({ hash }) => Math.floor(bytes.indexOf(hash) / size) * size))
  const leaves = [...pages].filter(at => bytes[at] === 10).filter((_, at) => at % 30 === 15)
  const lost = leaves.reduce((sum, at) => sum + bytes.readUInt16BE(at + 3), 0)
  expect([leaves.length >= 3, lost > 0, lost < MANY / 2]).toEqual([true, true, true])
  for (const at of leaves) bytes.fill(0xff, at, at + size)
  writeFileSync(path, bytes)
  const file = join(folder.path, 'keys.ndjson')
  const exported = await folder.run(['keys', 'export', file, '--store', `sqlite:${path}`])
  expect([exported.code, exported.out]).toEqual([3, expect.stringContaining('Others could not be read')])
  const { keys: saved, isWhole } = parseKeys(readFileSync(file, 'utf8'), file)
  const known = new Map(keys.map(key => [key.id, key]))
  expect([isWhole, saved.length]).toEqual([false, MANY - lost])
  expect(saved.map(key => [key.id, key])).toEqual(saved.map(({ id }) => [id, known.get(id) as StoredKey]))
  const other = join(folder.path, 'two.sqlite')
  const imported = await folder.run(['keys', 'import', file, '--store', `sqlite:${other}`])
  expect([imported.code, imported.out]).toEqual([0, expect.stringContaining('it may lack keys')])
})
