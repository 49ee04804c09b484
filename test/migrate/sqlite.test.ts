import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DERIVATION } from '#indices/registry.ts'
import { createKey } from '#keys/key.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import type { Replay } from '#test/replay/serve.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { runKilled } from '../support/processes/killed-runs.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { allAt, watchSwitch } from '../support/processes/switch.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { type Dump, differences, dumpSqlite } from '../support/stores/dump.ts'
import { intoFormerLayout } from '../support/stores/former-layout.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { loadFrom, replayed, temporarySqlite } from '../support/stores/loading.ts'

const HEIGHT = 820
const FURTHER = 40
/**
 * The first migration is killed at one of this many writes, and the next ones later. A migration has far more.
 */
const FIRST_KILLS = 1_000

let node: Replay
let further: Replay
let clean: Awaited<ReturnType<typeof temporarySqlite>>
let expected: Dump
beforeAll(async () => {
  node = await replayed(HEIGHT)
  further = await replayed(HEIGHT + FURTHER)
  clean = await temporarySqlite()
  await fillFromRecording(clean.store, { to: HEIGHT })
  expected = dumpSqlite(clean.path)
})
afterAll(async () => {
  await node.stop()
  await further.stop()
  await clean.destroy()
})

/** Changes a file to the form of an older version: other tables or other documents, and the version's mark. */
function age(path: string, statements: readonly string[]): void {
  const database = new Database(path, { safeIntegers: true })
  for (const sql of statements) database.run(sql)
  database.close()
}

/** Documents of another derivation. */
const OLDER_DOCUMENTS = [
  `UPDATE meta SET value = replace(value, '"derivation":${DERIVATION}', '"derivation":${DERIVATION - 1}') WHERE key = 'identity'`,
  "UPDATE accounts SET permissions = '[]'",
  "UPDATE tokens SET full_name = 'older'",
]
/** Tables of another schema. */
const OLDER_TABLES = [
  "UPDATE meta SET value = 'older' WHERE key = 'schema'",
  'ALTER TABLE accounts ADD COLUMN nick TEXT',
  'ALTER TABLE keys ADD COLUMN note TEXT',
  'DROP INDEX "wealth.richest"',
  'CREATE TABLE gone (id TEXT)',
]

test('an embedded store: the former program answers until the swap, the new one after it, however often the migration is killed', async () => {
  const seed = seedOf(41)
  const random = seeded(seed)
  await using target = await temporarySqlite(clean.path)
  await using folder = await cliFolder()
  const store = ['--store', `sqlite:${target.path}`]
  const migrate = ['indices', 'migrate', ...store]
  age(target.path, OLDER_DOCUMENTS)
  const former = openSqlite({ path: target.path, derivation: DERIVATION - 1 })
  const [service, formerService] = [serviceOn(target.store), serviceOn(former)]
  const [before, refusals, after] = await Promise.all([
    allAt(formerService),
    allAt(service),
    allAt(serviceOn(clean.store)),
  ])
  expect(before.map((answer, at) => answer === after[at])).toEqual([false, false, true, true, true, true])
  expect(refusals.filter(answer => !answer.startsWith('503'))).toEqual([])
  const refused = await folder.run(['load', '--node', node.url, '--once', ...store])
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining("Run 'iostlens indices migrate'")])
  const dry = await folder.run([...migrate, '--dry-run'])
  expect([dry.code, dry.out]).toEqual([
    3,
    `documents of derivation ${DERIVATION - 1}; expected ${DERIVATION}\nEverything would be derived again, audited and replaced.\n`,
  ])
  const stops = [watchSwitch(formerService, before, refusals), watchSwitch(service, refusals, after)]
  const keys: string[] = []
  const kills = await runKilled(
    seed,
    ['sqlite', target.path],
    kills => 1 + Math.floor(random() * FIRST_KILLS * (SOAK ? 2 : 4) ** kills),
    async (doom, kills) => {
      const { stored } = createKey(`key ${kills}`, { perSecond: 1, perDay: 1 }, { now: 1 + kills })
      await target.store.keys.add(stored)
      keys.push(stored.id)
      return folder.start(migrate, doom.environment)
    },
  )
  const watched = await Promise.all(stops.map(stop => stop()))
  expect([seed, watched.flatMap(({ wrong }) => wrong)]).toEqual([seed, []])
  expect([await allAt(formerService), await allAt(service)]).toEqual([[...refusals], [...after]])
  await former.close()
  expect(await target.store.check()).toEqual([])
  expect((await target.store.keys.list()).map(({ id }) => id)).toEqual(keys)
  expect(differences(dumpSqlite(target.path), expected)).toEqual([])
  expect(await loadFrom(further.url, target.store)).toBe(HEIGHT + FURTHER)
  expect(kills).toBeGreaterThanOrEqual(2)
  process.stderr.write(`${kills} migrations killed, ${watched.map(({ asked }) => asked)} answers\n`)
})

test('an embedded store of the former layout is refused with the remedy, and derived again from itself', async () => {
  await using target = await temporarySqlite(clean.path)
  await using folder = await cliFolder()
  const store = ['--store', `sqlite:${target.path}`]
  await target.store.close()
  intoFormerLayout(target.path)
  const remedy = expect.stringMatching(/Run:? .?iostlens indices migrate/)
  for (const command of [
    ['load', '--once', '--node', node.url],
    ['serve', '--listen', '127.0.0.1:0'],
  ])
    expect(await folder.run([...command, ...store])).toMatchObject({ code: 3, err: remedy })
  expect((await folder.run(['indices', 'migrate', ...store])).code).toBe(0)
  const made = openSqlite({ path: target.path })
  expect(await made.check()).toEqual([])
  await made.close()
  expect(differences(dumpSqlite(target.path), expected)).toEqual([])
})

test('an embedded store with other tables is migrated, and unreadable blocks are taken from a node', async () => {
  await using target = await temporarySqlite(clean.path)
  await using folder = await cliFolder()
  const migrate = ['indices', 'migrate', '--store', `sqlite:${target.path}`]
  const { stored } = createKey('wallet', { perSecond: 1, perDay: 1 }, { now: 1 })
  await target.store.keys.add(stored)
  age(target.path, OLDER_TABLES)
  const done = await folder.run(migrate)
  expect(done.code).toBe(0)
  expect(done.out).toContain('wealth.richest: missing: index does not exist\n')
  const made = openSqlite({ path: target.path })
  expect(await made.check()).toEqual([])
  expect(await made.keys.list()).toEqual([stored])
  expect(differences(dumpSqlite(target.path), expected)).toEqual([])
  await made.close()

  age(target.path, [...OLDER_TABLES, 'ALTER TABLE blocks RENAME COLUMN witness TO producer'])
  const poor = await folder.run(migrate)
  expect([poor.code, poor.err]).toEqual([3, expect.stringContaining('Set a node with --node.')])
  expect((await folder.run([...migrate, '--node', node.url])).code).toBe(0)
  expect(differences(dumpSqlite(target.path), expected)).toEqual([])
  const again = await folder.run(migrate)
  expect(again).toEqual({
    code: 0,
    out: `sqlite:${target.path} matches this version; there is nothing to migrate.\n`,
    err: '',
  })
})
