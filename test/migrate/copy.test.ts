import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import type { Replay } from '#test/replay/serve.ts'
import { secondOpinion } from '../support/oracle/second-opinion.ts'
import { type Testimony, witness } from '../support/oracle/witness.ts'
import { cliFolder, type Running } from '../support/processes/cli-process.ts'
import type { Doomed } from '../support/processes/doomed.ts'
import { runKilled } from '../support/processes/killed-runs.ts'
import { serviceOn } from '../support/processes/service.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { type Ageing, ageIndex } from '../support/stores/aged.ts'
import { differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../support/stores/loading.ts'

setDefaultTimeout(600_000)

const HEIGHT = 900
const FURTHER = 60
const PARTITION = 3_000
/** Requests of a migration among which the first one is killed, two thirds of those of the second: far fewer than it has. */
const FIRST_KILLS = 60

const AGED: Readonly<Record<string, Ageing>> = {
  // Places could be sorted by, and rows named their block's witness.
  'records-000000': { properties: { places: { type: 'long' } } },
  'records-000001': { properties: { places: { type: 'long' } } },
  // Packed better, read slower.
  'transactions-000000': { settings: { codec: 'best_compression' } },
  // Not sorted on disk; a field that is gone.
  'balances-0': {
    settings: { sort: { field: ['owner'], order: ['asc'] } },
    properties: { rank: { type: 'long' } },
    fields: { rank: 7 },
  },
  'wealth-0': { settings: { sort: { field: ['owner'], order: ['asc'] } } },
  'keys-0': { properties: { created: { type: 'long' } } },
  'journal-0': { properties: { part: { type: 'long' } } },
}

let node: Replay
/** The same node some blocks later. */
let further: Replay
let clean: TestElastic
beforeAll(async () => {
  if (elasticsearchUrl() === undefined) return
  node = await replayed(HEIGHT)
  further = await replayed(HEIGHT + FURTHER)
  clean = openTestElastic({ partitionDocuments: PARTITION })
  await loadFrom(node.url, clean.store)
})
afterAll(async () => {
  await node?.stop()
  await further?.stop()
  await clean?.destroy()
})

const agedStore = async (): Promise<TestElastic> => {
  const target = openTestElastic({ partitionDocuments: PARTITION })
  await loadFrom(node.url, target.store)
  for (const [name, ageing] of Object.entries(AGED))
    await ageIndex(target.url, `${target.prefix}-${name}`, ageing)
  return target
}

const atHeight = ({ answers }: Testimony, height: number): Testimony['answers'] =>
  new Map([...answers].filter(([at]) => at === height))

/** Numbers that were found as such, and stored as their digits. */
const asNumber = { type: 'long', doc_values: false }
const digitsOf = (term: unknown): string =>
  String(Buffer.from(String(term).slice(1), 'base64url').readBigInt64BE())
const NUMBERED: Readonly<Record<string, Ageing>> = {
  blocks: {
    properties: { hash8: asNumber, base_hash8: asNumber },
    changed: ({ hash8, base_hash8 }) => ({
      hash8: digitsOf(hash8),
      ...(base_hash8 === undefined ? {} : { base_hash8: digitsOf(base_hash8) }),
    }),
  },
  transactions: {
    properties: { hash8: asNumber },
    changed: ({ hash8 }) => ({ hash8: digitsOf(hash8) }),
  },
}

const namesAt = async ({ url, prefix }: TestElastic): Promise<readonly string[]> =>
  Object.keys((await (await fetch(`${url}/${prefix}-*`)).json()) as object)

describe.skipIf(elasticsearchUrl() === undefined)('indices migrate: other mappings', () => {
  test('hashes that were stored as numbers are copied, not derived anew', async () => {
    const target = openTestElastic({ partitionDocuments: PARTITION })
    await using folder = await cliFolder()
    const at = `${target.url}/${target.prefix}`
    try {
      await loadFrom(node.url, target.store)
      for (const [name, ageing] of Object.entries(NUMBERED))
        for (const partition of ['000000', '000001'])
          await ageIndex(target.url, `${target.prefix}-${name}-${partition}`, ageing)
      const migration = await folder.run(['indices', 'migrate', '--store', at, '--log-level', 'warn'])
      expect(migration).toMatchObject({ code: 0, err: '' })
      expect(migration.out).toContain('copied')
      const [dump, expected] = await Promise.all([
        dumpElastic(target.url, target.prefix),
        dumpElastic(clean.url, clean.prefix),
      ])
      expect(differences(dump, expected)).toEqual([])
    } finally {
      await target.destroy()
    }
  })

  test('whole answers all the while, however often it is killed; the documents of a clean load at the end', async () => {
    const seed = seedOf(31)
    const random = seeded(seed)
    const target = await agedStore()
    await using folder = await cliFolder()
    // How often progress is logged depends on the machine.
    const quietly = ['--lease', '1s', '--log-level', 'warn']
    const migrateAt = (at: string) => ['indices', 'migrate', '--store', at, ...quietly]
    const migrate = migrateAt(`${target.url}/${target.prefix}`)
    try {
      const before = (await target.store.check()).map(({ name }) => name)
      const after = await namesAt(target)
      expect(before).toEqual(
        expect.arrayContaining(['balances', 'keys', 'records-000001', 'transactions-000000']),
      )
      const dry = await folder.run([...migrate, '--dry-run'])
      expect([dry.code, dry.err]).toEqual([3, ''])
      expect(dry.out).toContain(`${target.prefix}-balances-0: mapping of an older one; expected `)
      expect(dry.out).toContain('The indices above would be copied, compared and replaced.\n')
      expect(await namesAt(target)).toEqual(after)

      const watching = await witness(serviceOn(target.reopen()), { seed })
      const keys: string[] = []
      let running: Running | undefined
      const start = async ({ store: at }: Doomed, kills: number) => {
        if (running !== undefined) {
          expect([seed, kills, (await running.ended).err]).toEqual([seed, kills, ''])
          expect([seed, await target.store.published()]).toMatchObject([seed, { height: HEIGHT }])
          await watching.sees(200)
        }
        const { stored } = createKey(
          `key ${keys.length}`,
          { perSecond: 1, perDay: 1 },
          { now: 1 + keys.length },
        )
        // Killed in the moment before the swap: refused, to be tried again, until the next one runs.
        const added = await target.store.keys.add(stored).then(
          () => 'added',
          (error: unknown) => String(error),
        )
        if (added === 'added') keys.push(stored.id)
        else expect([seed, added]).toEqual([seed, expect.stringContaining('blocks write')])
        running = folder.start(migrateAt(at))
        return running
      }
      const place = ['elastic', target.url, target.prefix]
      const writeAt = (kills: number) => 1 + Math.floor(random() * FIRST_KILLS * 1.5 ** kills)
      const kills = await runKilled(seed, place, writeAt, start)
      await watching.sees(200)
      expect([seed, await target.store.check()]).toEqual([seed, []])
      expect((await target.store.keys.list()).map(({ id }) => id)).toEqual(keys)

      // A service that stays from before, and one from after the old indices are gone.
      const removal = await folder.run([...migrate, '--delete-old'])
      expect(removal).toMatchObject({ code: 0, err: '' })
      expect(removal.out).toContain(`${target.prefix}-balances-0: deleted\n`)
      await watching.sees(200)
      expect((await namesAt(target)).length).toBe(after.length)
      await loadFrom(further.url, target.reopen())
      await watching.sees(200)
      expect(watching.height()).toBe(HEIGHT + FURTHER)
      const seen = await watching.stop()
      expect([seed, seen.wrong, Object.keys(seen.statuses)]).toEqual([seed, [], ['200']])
      expect([seed, await secondOpinion(node.url, { answers: atHeight(seen, HEIGHT) })]).toEqual([seed, []])

      await loadFrom(further.url, clean.store)
      const [dump, expected] = await Promise.all([
        dumpElastic(target.url, target.prefix),
        dumpElastic(clean.url, clean.prefix),
      ])
      expect([seed, expected.size > 10_000, differences(dump, expected)]).toEqual([seed, true, []])
      expect(kills).toBeGreaterThanOrEqual(2)
      process.stderr.write(
        `${kills} migrations killed, ${seen.statuses[200]} answers, longest gap ${Math.round(seen.longestGapMs)} ms\n`,
      )
    } finally {
      await target.destroy()
    }
  })
})
