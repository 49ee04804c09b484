import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { accounts } from '#indices/account.ts'
import { DERIVATION } from '#indices/registry.ts'
import { wealth } from '#indices/wealth.ts'
import { createKey } from '#keys/key.ts'
import type { ElasticStore } from '#store/elastic/open-elastic.ts'
import type { Writer } from '#store/port.ts'
import type { Replay } from '#test/replay/serve.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { runKilled } from '../support/processes/killed-runs.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { allAt, watchSwitch } from '../support/processes/switch.ts'
import { failureOf } from '../support/refusal.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { type Ageing, ageIndex } from '../support/stores/aged.ts'
import { type Dump, differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom, replayed } from '../support/stores/loading.ts'

const HEIGHT = SOAK ? 820 : 160
/** Two partitions. */
const PARTITION = SOAK ? 3_000 : 130
/**
 * The first migration is killed at one of this many requests, the second at one of half as many. A migration
 * has far more.
 */
const FIRST_KILLS = 60

let node: Replay
let clean: TestElastic
let expected: Dump
beforeAll(async () => {
  if (elasticsearchUrl() === undefined) return
  node = await replayed(HEIGHT)
  clean = await loadedStore()
  expected = await dumpElastic(clean.url, clean.prefix)
})
afterAll(async () => {
  await node?.stop()
  await clean?.destroy()
})

async function loadedStore(to = HEIGHT): Promise<TestElastic> {
  const target = openTestElastic({ partitionDocuments: PARTITION })
  await loadFrom(ARCHIVED, target.store, { to, prove: 'linked' })
  return target
}

async function takeOver(store: ElasticStore): Promise<Writer> {
  const identity = await store.identity()
  if (identity === undefined) throw new Error('Nothing is loaded.')
  return store.takeOver(identity)
}

type Hits = { readonly hits: { readonly hits: readonly Hit[] } }
type Hit = { readonly _id: string; readonly _version: number; readonly _source: Record<string, unknown> }

/** Terms mapped as numbers, and stored as their digits. */
const asNumber = { type: 'long', doc_values: false }
const digitsOf = (term: unknown): string => String(Buffer.from(String(term).slice(1), 'base64url').readBigInt64BE())
const AGED: Readonly<Record<string, Ageing>> = {
  'blocks-000000': {
    properties: { hash8: asNumber, base_hash8: asNumber },
    changed: ({ hash8, base_hash8 }) => ({
      hash8: digitsOf(hash8),
      ...(base_hash8 === undefined ? {} : { base_hash8: digitsOf(base_hash8) }),
    }),
  },
  'records-000001': { properties: { places: { type: 'long' } } },
  'state-0': { properties: { rank: { type: 'long' } }, fields: { rank: 7 } },
  'keys-0': { properties: { created: { type: 'long' } } },
}

/** The documents that an older version would have derived: accounts without permissions, tokens with another name. */
async function olderStore(): Promise<TestElastic> {
  const target = await loadedStore()
  const { ask } = target
  for (const [name, change] of [
    ['accounts', { permissions: '[]' }],
    ['tokens', { full_name: 'older' }],
  ] as const) {
    const { hits } = await ask<Hits>('GET', `state/_search?q=kind:${name}&size=1000&version=true`)
    for (const { _id, _version, _source } of hits.hits)
      await ask(
        'PUT',
        `state/_doc/${encodeURIComponent(_id)}?version=${_version}&version_type=external_gte&refresh=true`,
        { ..._source, ...change },
      )
  }
  const { _source } = await ask<{ _source: { body: string } }>('GET', 'meta/_doc/checkpoint')
  const checkpoint = JSON.parse(_source.body)
  await ask('PUT', 'meta/_doc/checkpoint?refresh=true', {
    body: JSON.stringify({ ...checkpoint, derivation: DERIVATION - 1 }),
  })
  return target
}

const refusalOrNone = (asked: Promise<unknown>): Promise<string | undefined> => asked.then(() => undefined, String)

const keyOf = (name: string) => createKey(name, { perSecond: 1, perDay: 1 }, { now: 1 }).stored

describe.skipIf(elasticsearchUrl() === undefined)('indices migrate: a changed derivation', () => {
  test('a change of mappings keeps the documents of a clean load, keys and day counts, and reads no node', async () => {
    await using target = await loadedStore()
    await using folder = await cliFolder()
    const migrate = ['indices', 'migrate', '--store', `${target.url}/${target.prefix}`]
    const key = keyOf('kept')
    await target.store.keys.add(key)
    await target.store.usage.add(500, new Map([[key.id, 3]]), 10)
    for (const [name, ageing] of Object.entries(AGED)) await ageIndex(target.url, `${target.prefix}-${name}`, ageing)
    const before = (await target.store.check()).map(({ name }) => name)
    expect(before).toEqual(expect.arrayContaining(['blocks-000000', 'keys', 'records-000001', 'state']))
    const dry = await folder.run([...migrate, '--dry-run'])
    expect([dry.code, dry.out]).toEqual([3, expect.stringContaining('state-0: mapping of an older one; expected ')])
    const options = ['--partition-documents', String(PARTITION), '--delete-old', '--log-level', 'warn']
    expect(await folder.run([...migrate, ...options])).toMatchObject({ code: 0, err: '' })
    // The state file of the generation that was built is gone.
    expect(readdirSync(join(folder.path, 'data')).filter(name => name.startsWith('state-building'))).toEqual([])
    expect(await target.store.check()).toEqual([])
    expect((await target.store.keys.list()).map(({ id }) => id)).toEqual([key.id])
    const day = { day: 500, key: key.id, requests: 3, last: 10 }
    expect(await target.store.usage.since(0)).toEqual([day])
    expect(differences(await dumpElastic(target.url, target.prefix), expected)).toEqual([])
  })

  test('from the stored blocks: a rollback serves the replaced indices again, and the next migration begins anew; each answer is of one derivation, however often it is killed', async () => {
    const seed = seedOf(37)
    const random = seeded(seed)
    await using target = await olderStore()
    await using folder = await cliFolder()
    const own = `${target.url}/${target.prefix}`
    const storeAt = (at: string) => ['--store', at, '--lease', '1s']
    const migrateAt = (at: string) => ['indices', 'migrate', ...storeAt(at), '--partition-documents', String(PARTITION)]
    const migrate = migrateAt(own)
    const load = ['load', '--node', node.url, '--once', ...storeAt(own)]
    const rollback = ['indices', 'rollback', ...storeAt(own)]
    const answers = () => allAt(serviceOn(target.reopen()))
    const [before, after] = await Promise.all([answers(), allAt(serviceOn(clean.store))])
    expect(before.map((answer, at) => answer === after[at])).toEqual([false, false, true, true, true, true])
    expect((await target.store.check()).map(({ name, problem }) => [name, problem])).toEqual([
      ['documents', 'different'],
    ])
    for (const [command, err] of [
      [load, "Run 'iostlens indices migrate'"],
      [rollback, 'There are no replaced indices'],
    ] as const)
      expect(await folder.run(command)).toMatchObject({ code: 3, err: expect.stringContaining(err) })
    const dry = await folder.run([...migrate, '--dry-run'])
    expect(dry).toMatchObject({
      code: 3,
      out: `documents of derivation ${DERIVATION - 1}; expected ${DERIVATION}\nEverything would be derived again, audited and replaced.\n`,
    })
    expect((await folder.run(migrate)).code).toBe(0)
    const between = keyOf('between')
    await target.store.keys.add(between)
    expect(await answers()).toEqual([...after])
    const back = await folder.run(rollback)
    expect(back).toMatchObject({ code: 0, out: expect.stringContaining(`up to block ${HEIGHT}.`) })
    expect(await answers()).toEqual([...before])
    expect((await folder.run(rollback)).code).toBe(3)
    await ageIndex(target.url, `${target.prefix}-keys-0`, { properties: { created: { type: 'long' } } })
    const keys = [between.id]
    /** Refused in the moment before the swap, until the next migration runs. */
    const addKey = async (): Promise<void> => {
      const key = keyOf(`key ${keys.length}`)
      const refused = await refusalOrNone(target.store.keys.add(key))
      if (refused === undefined) keys.push(key.id)
      else expect([seed, refused]).toEqual([seed, expect.stringContaining('blocks write')])
    }
    const stop = watchSwitch(serviceOn(target.reopen()), before, after)
    const kills = await runKilled(
      seed,
      ['elastic', target.url, target.prefix],
      kills => 1 + Math.floor(random() * FIRST_KILLS * 2 ** kills),
      async doom => {
        await addKey()
        return folder.start(migrateAt(doom.store))
      },
    )
    const { wrong, asked } = await stop()
    expect([seed, wrong]).toEqual([seed, []])
    expect(await answers()).toEqual([...after])
    // While the replaced index of keys exists, a loader that takes the store over knows which index is served.
    expect((await folder.run(load)).code).toBe(0)
    expect(await target.store.check()).toEqual([])
    expect((await folder.run([...migrate, '--delete-old'])).code).toBe(0)
    expect(await target.store.check()).toEqual([])
    const kept = (await target.store.keys.list()).map(({ id }) => id)
    expect(kept.toSorted()).toEqual(keys.toSorted())
    expect(differences(await dumpElastic(target.url, target.prefix), expected)).toEqual([])
    expect(kills).toBeGreaterThanOrEqual(2)
    process.stderr.write(`${kills} migrations killed, ${asked} answers\n`)
  })

  test('from a node where blocks are lost: a loader continues until the swap, then it must stop', async () => {
    await using target = await olderStore()
    await using folder = await cliFolder()
    // The loader shows within seconds that it is alive, and the migration waits much longer for that.
    const store = ['--store', `${target.url}/${target.prefix}`, '--lease', '6s']
    const migrate = ['indices', 'migrate', ...store, '--partition-documents', String(PARTITION)]
    // Created before the loss, because a loader refuses to begin on a store with a missing index.
    const loader = await takeOver(target.reopen({ leaseMs: 1_000 }))
    await target.ask('DELETE', 'blocks-000000/_doc/000000000050?refresh=true')
    const poor = await folder.run(migrate)
    expect([poor.code, poor.err]).toEqual([
      3,
      expect.stringContaining(
        'The stored blocks are damaged, so nothing can be derived from them. Set a node with --node.',
      ),
    ])
    const late = await folder.run([...migrate, '--node', node.url])
    expect([late.code, late.err]).toEqual([75, expect.stringContaining('Another loader is writing')])
    expect(late.out).toContain(`The new data is whole at block ${HEIGHT}.\n`)
    await loader.release()
    const { code, out } = await folder.run([...migrate, '--node', node.url, '--delete-old'])
    expect([code, out]).toEqual([0, expect.stringContaining('now serves the new data.')])
    expect(await target.store.check()).toEqual([])
    expect(differences(await dumpElastic(target.url, target.prefix), expected)).toEqual([])
    expect(await target.store.read(view => view.get(accounts, 'admin'))).toEqual(
      await clean.store.read(view => view.get(accounts, 'admin')),
    )
  })
})

/** A short chain suffices for processes that pause or die. */
const FEW = 30

/** Makes the state of a generation one of an older version. */
const age = ({ ask }: TestElastic, generation: number): Promise<unknown> =>
  ask('PUT', `state-${generation}/_mapping`, { _meta: { schema: 1, fingerprint: 'of an older one' } })

/** Closes the checkpoint of a generation, as a migration to the next one does right before its end. */
async function retire({ ask }: TestElastic, generation: number): Promise<void> {
  const path = `meta-${generation}/_doc/checkpoint`
  const { _source } = await ask<{ _source: { body: string } }>('GET', path)
  const body = JSON.stringify({ ...JSON.parse(_source.body), retired: generation + 1 })
  await ask('PUT', path, { body })
}

describe.skipIf(elasticsearchUrl() === undefined)('indices migrate: a process that paused or died', () => {
  test('a loader from before a swap writes nothing into indices of any generation', async () => {
    await using target = await loadedStore(FEW)
    await using folder = await cliFolder()
    const store = ['--store', `${target.url}/${target.prefix}`, '--lease', '1s']
    const migrate = ['indices', 'migrate', ...store, '--log-level', 'warn']
    for (const generation of [0, 1]) {
      // The renewal interval is so long that another loader regards it as dead at once.
      const sleeper = await takeOver(target.reopen({ leaseMs: 3_600_000 }))
      await age(target, generation)
      expect(await folder.run(migrate)).toMatchObject({ code: 0, err: '' })
      const before = await dumpElastic(target.url, target.prefix)
      expect(before.has('wealth/admin')).toBe(true)
      const doc = await target.store.read(view => view.get(wealth, 'admin'))
      if (doc === undefined) throw new Error('There is no admin.')
      const rewrite = { put: [{ index: wealth, doc: { ...doc, total: doc.total + 1n } }], remove: [], unplace: [] }
      expect((await failureOf(sleeper.rewrite(rewrite))).message).toContain('Another loader has taken over')
      await sleeper.release()
      await target.ask('POST', '*/_refresh')
      expect(differences(await dumpElastic(target.url, target.prefix), before)).toEqual([])
      expect(await target.store.check()).toEqual([])
    }
    expect(await loadFrom(node.url, target.store, { to: FEW })).toBe(FEW)
  })

  test('a migration stopped right before its end keeps loaders away until it is run again; a rollback after it serves the same indices, not kept older ones', async () => {
    await using target = await loadedStore(FEW)
    await retire(target, 0)
    expect((await failureOf(takeOver(target.store))).message).toContain('A migration is replacing the indices')
    expect((await target.store.published())?.height).toBe(FEW)
    await target.store.migrating.reopen?.()
    expect(await loadFrom(node.url, target.store, { to: FEW })).toBe(FEW)

    await using folder = await cliFolder()
    const store = ['--store', `${target.url}/${target.prefix}`, '--lease', '1s']
    await age(target, 0)
    expect((await folder.run(['indices', 'migrate', ...store])).code).toBe(0)
    await retire(target, 1)
    expect((await folder.run(['indices', 'rollback', ...store])).code).toBe(0)
    expect(Object.keys(await target.ask<object>('GET', 'meta'))).toEqual([`${target.prefix}-meta-1`])
    expect(await loadFrom(node.url, target.reopen(), { to: FEW })).toBe(FEW)
  })
})
