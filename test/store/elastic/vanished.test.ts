import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { records } from '#indices/record.ts'
import { transactions } from '#indices/transaction.ts'
import { wealth } from '#indices/wealth.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { BatchSize } from '#store/batch.ts'
import type { ElasticStore } from '#store/elastic/open-elastic.ts'
import type { Batch, Store, View, Writer } from '#store/port.ts'
import {
  identity,
  publishedAt,
  readTelling,
  recordDoc,
  tellingAt,
  tellingBatch,
  transactionDoc,
  wealthDoc,
} from '#test/store/suite/fixture.ts'
import { fillStore } from '#test/store/suite/harness.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

const HEIGHT = 3

/** One index of each kind. */
const indices = ['blocks-000000', 'records-000000', 'state-0', 'meta-0'] as const
type IndexName = (typeof indices)[number]

/** A store loaded up to a height, without a writer. */
async function openLoaded(): Promise<TestElastic> {
  const target = openTestElastic({ retryTimeoutMs: 2_000 })
  await fillStore(target.store, tellingBatch(0, HEIGHT))
  return target
}

type Index = { readonly mappings: object; settings: { index: Record<string, unknown> }; aliases: object }

async function readIndex({ ask }: TestElastic, name: string): Promise<Index> {
  const [index] = Object.values(await ask<Readonly<Record<string, Index>>>('GET', name))
  if (index === undefined) throw new Error(`There is no ${name}.`)
  return index
}

/** Deletes an index and creates it again with the same settings, empty. */
async function recreate(target: TestElastic, name: string): Promise<void> {
  const { mappings, aliases, settings } = await readIndex(target, name)
  const { number_of_shards, number_of_replicas, refresh_interval, sort } = settings.index
  await target.ask('DELETE', name)
  const index = { number_of_shards, number_of_replicas, refresh_interval, sort }
  await target.ask('PUT', `${name}?wait_for_active_shards=1`, { mappings, aliases, settings: { index } })
}

async function removeOne({ ask }: TestElastic, name: string): Promise<void> {
  const { hits } = await ask<{ hits: { hits: { _id: string }[] } }>('GET', `${name}/_search?size=1`)
  await ask('DELETE', `${name}/_doc/${encodeURIComponent(hits.hits[0]?._id ?? '')}?refresh=true`)
}

const changeAliases = ({ url }: TestElastic, actions: readonly object[]): Promise<unknown> =>
  ask('POST', `${url}/_aliases`, { actions })

async function hide(target: TestElastic, name: string): Promise<void> {
  const index = `${target.prefix}-${name}`
  const { aliases } = await readIndex(target, name)
  await changeAliases(
    target,
    Object.keys(aliases).map(alias => ({ remove: { index, alias } })),
  )
}

type Change = (target: TestElastic, name: string) => Promise<unknown>
const remove: Change = ({ ask }, name) => ask('DELETE', name)
const close: Change = ({ ask }, name) => ask('POST', `${name}/_close`)
const open: Change = ({ ask }, name) => ask('POST', `${name}/_open?wait_for_active_shards=1`)
/** Without the alias of meta, `create` refuses. */
const showAgain: Change = (target, name) => {
  const [index, alias] = [`${target.prefix}-${name}`, `${target.prefix}-meta`]
  return name === 'meta-0' ? changeAliases(target, [{ add: { index, alias } }]) : target.reopen().create()
}

type Damage = {
  readonly what: string
  readonly damage: Change
  readonly of: readonly IndexName[]
  /** The kind of a loader's failure. */
  readonly kind: 'damaged' | 'unavailable'
  readonly help: RegExp
  /** Only if no document is lost. */
  readonly mend?: Change
}

/** For meta, a lost document has tests of its own. */
const damages: readonly Damage[] = [
  {
    ...{ what: 'is deleted', damage: remove, of: indices, kind: 'damaged' },
    help: /snapshot|iostlens repair|load anew into another prefix/,
  },
  {
    ...{ what: 'is made anew, empty', damage: recreate, of: ['records-000000', 'state-0', 'meta-0'], kind: 'damaged' },
    help: /iostlens repair|snapshot/,
  },
  {
    ...{ what: 'is closed', damage: close, of: ['blocks-000000', 'meta-0'], kind: 'unavailable' },
    ...{ help: /_open/, mend: open },
  },
  {
    ...{ what: 'has lost its aliases', damage: hide, of: ['records-000000', 'meta-0'], kind: 'unavailable' },
    ...{ help: /iostlens indices create|snapshot/, mend: showAgain },
  },
  {
    ...{ what: 'has lost a document', damage: removeOne, of: ['records-000000', 'state-0'], kind: 'damaged' },
    help: /iostlens repair/,
  },
]
const cases = damages.flatMap(each => each.of.map(name => ({ ...each, name })))
type Case = (typeof cases)[number]

const look = (store: Store) => store.read(readTelling)

async function expectTold(service: ElasticStore, { prefix }: TestElastic, { name, kind, help }: Case): Promise<void> {
  const refused = await failureOf(look(service))
  expect(['unavailable', kind]).toContain(refused.kind)
  if (name === 'meta-0') return
  expect(refused.message).toContain(`${prefix}-${name}`)
  expect(refused.help).toMatch(help)
  expect((await failureOf(service.whole())).message).toBe(refused.message)
  const found = await service.check()
  expect(found.map(({ name: index, problem }) => [index, problem])).toContainEqual([name, 'lost'])
}

describe.skipIf(elasticsearchUrl() === undefined)('an index that vanished', () => {
  /** For damages that keep every document, and for refused calls, which change nothing. */
  let shared: TestElastic
  beforeAll(async () => {
    shared = await openLoaded()
  })
  afterAll(() => shared.destroy())

  /** Deletes or replaces a document, runs `see`, and restores the document. */
  async function withDamaged(id: 'checkpoint' | 'published', body: string | undefined, see: () => Promise<void>) {
    const document = `meta-0/_doc/${id}?refresh=true`
    const { _source } = await shared.ask<{ readonly _source: object }>('GET', document)
    await (body === undefined ? shared.ask('DELETE', document) : shared.ask('PUT', document, { body }))
    await see()
    await shared.ask('PUT', document, _source)
    expect(await shared.reopen().read(async view => view.at)).toEqual(publishedAt(HEIGHT))
  }

  for (const [what, body, says] of [
    ['is deleted', undefined, /no checkpoint in .*-meta/],
    ['has half of its text', '{"schema":1,"chain', /'checkpoint' of .*-meta at .* is unreadable or invalid/],
  ] as const)
    test(`a checkpoint that ${what} is refused by its name, and the store is never loaded from the start`, () =>
      withDamaged('checkpoint', body, async () => {
        const other = shared.reopen()
        const load = async () => {
          await other.create()
          await other.takeOver(identity)
        }
        // A read-only process does not mistake it for a store without blocks either.
        for (const call of [load, () => other.takeOver(identity), () => other.check()]) {
          const { kind, message, help } = await failureOf(call())
          expect([kind, message, help]).toEqual(['damaged', expect.stringMatching(says), expect.anything()])
          if (call !== load) continue
          expect(help).toMatch(/iostlens repair/)
        }
      }))

  test('a published height that cannot be read is not used for an answer', () =>
    withDamaged('published', '{"end', async () => {
      const refused = await failureOf(shared.reopen().read(async view => view.at))
      expect([refused.kind, refused.retryable]).toEqual(['damaged', false])
      expect(refused.message).toMatch(/'published' of .*-meta/)
    }))

  test('a deleted published height is published again by the next loader', async () => {
    await shared.ask('DELETE', 'meta-0/_doc/published?refresh=true')
    const other = shared.reopen()
    expect(await kindOf(other.read(async view => view.at))).toBe('unavailable')
    const writer = await other.takeOver(identity)
    expect(await other.published()).toEqual(publishedAt(HEIGHT))
    await commitBatch(writer, tellingBatch(HEIGHT + 1, HEIGHT + 1))
    await writer.release()
  })
  for (const each of cases) {
    const { what, damage, name, kind, help, mend } = each
    test(`${name} ${what} under a service and a loader: the service reports it instead of an answer, nothing is published, and the next loader refuses`, async () => {
      await using own = mend === undefined ? await openLoaded() : undefined
      const target = own ?? shared
      let passed = 0
      const service = target.reopen({ clock: { elapsed: () => performance.now() + passed } })
      const { height = -1 } = (await service.published()) ?? {}
      expect(height).toBeGreaterThanOrEqual(HEIGHT)
      expect<unknown>(await look(service)).toEqual(tellingAt(height))
      const loader = target.reopen()
      const writer = await loader.takeOver(identity)
      await damage(target, name)
      passed += 2_000
      // Readers access history by the names of its indices, without aliases.
      if (damage === hide && name !== 'meta-0') expect<unknown>(await look(service)).toEqual(tellingAt(height))
      else await expectTold(service, target, each)

      const unpublished = await failureOf(commitBatch(writer, tellingBatch(height + 1, height + 1)))
      expect(['damaged', 'conflict', kind]).toContain(unpublished.kind)
      expect(unpublished.help).toMatch(help)
      if (name !== 'meta-0') expect((await loader.published())?.height).toBe(height)

      // The loader's process ends. A store without meta has no lease to release.
      await writer.release().catch(() => undefined)
      const refused = await failureOf(target.reopen().takeOver(identity))
      expect(['damaged', 'conflict', kind]).toContain(refused.kind)
      for (const part of [target.prefix, name.replace(/-0$/, '')])
        expect(`${refused.message} ${refused.help}`).toContain(part)
      expect(refused.help).toMatch(help)
      if (mend === undefined) return
      await mend(target, name)
      expect(await target.reopen().check()).toEqual([])
      // Completes the unfinished batch.
      await (await target.reopen().takeOver(identity)).release()
      passed += 2_000
      expect<unknown>(await look(service)).toEqual(tellingAt((await service.published())?.height ?? -1))
    })
  }

  test('documents that are lost: none is called missing, not even before the next check of the store', async () => {
    await using target = await openLoaded()
    const findAt = (height: number) => (view: View) => view.find(transactions, 'hash8', transactionDoc(height, 1).hash8)
    const richest = async (view: View) => {
      const hits = await view.page(wealth, 'richest', { offset: 0, limit: 9 })
      if (hits.length === 0) throw new Failure('not_found', 'Nobody is rich.')
      return hits
    }
    const losses: readonly (readonly [string, Change, (view: View) => Promise<readonly unknown[]>])[] = [
      // The copy shows the last document of the index.
      [`transactions-000000/_doc/${transactionDoc(2, 1).id}?refresh=true`, remove, findAt(2)],
      ['transactions-000000', recreate, findAt(1)],
      ['state-0', recreate, richest],
    ]
    // Their clocks stand still, so they do not repeat their check of the store, which is due once a second.
    const services = losses.map(() => target.reopen({ clock: { elapsed: () => 0 } }))
    for (const service of services) expect<unknown>(await look(service)).toEqual(tellingAt(HEIGHT))
    for (const [at, [name, lose, call]] of losses.entries()) {
      const { read } = services[at] ?? target.store
      expect(await read(call)).not.toEqual([])
      await lose(target, name)
      expect(await kindOf(read(call))).toBe('damaged')
    }
  })
})

const NOW = Date.UTC(2026, 10, 21)
const { key, stored } = createKey('a', { perSecond: 3, perDay: 7 }, { now: NOW })

/** Points the alias to an index that another program created. */
async function redirect(target: TestElastic): Promise<void> {
  const [index, alias, other] = ['keys-0', 'keys', 'other'].map(name => `${target.prefix}-${name}`)
  const mappings = { properties: { created: { type: 'long' } } }
  await target.ask('PUT', 'other?wait_for_active_shards=1', { mappings })
  await changeAliases(target, [{ remove: { index, alias } }, { add: { index: other, alias } }])
}

const check = (store: Store) => keyring({ store: store.keys, clock: handClock(NOW) }).check(key)

describe.skipIf(elasticsearchUrl() === undefined)('an index of keys', () => {
  for (const [name, damage, kind] of [
    ['that was deleted', remove, 'damaged'],
    ['that is another one', recreate, 'damaged'],
    ['whose alias leads elsewhere', redirect, 'unavailable'],
  ] as const)
    test(`${name}: no key is called unknown, added or revoked`, async () => {
      await using target = await openLoaded()
      await target.store.keys.add(stored)
      const service = target.reopen()
      expect((await check(service)).id).toBe(stored.id)
      await damage(target, 'keys-0')
      // A process that had read the index before, and a new one.
      for (const store of [service, target.reopen()]) {
        expect(await kindOf(check(store))).toBe(kind)
        for (const call of [
          () => store.keys.list(),
          () => store.keys.add({ ...stored, id: 'b' }),
          () => store.keys.revoke(stored.id, NOW),
        ]) {
          const refused = await failureOf(call())
          expect([refused.kind, refused.message]).toEqual([kind, expect.stringContaining(`${target.prefix}-keys-0`)])
          expect(refused.help).toMatch(/iostlens repair|iostlens indices create/)
        }
      }
      if (damage !== redirect) return
      // `indices create` does not add the alias again, because keys may be revoked in the other index.
      await failureOf(target.reopen().create())
      expect((await readIndex(target, 'keys-0')).aliases).toEqual({})
    })

  test('a repair accepts the index of keys in its current form', async () => {
    await using target = await openLoaded()
    await target.store.keys.add(stored)
    await remove(target, 'keys-0')
    const other = target.reopen()
    expect(await kindOf(other.takeOver(identity))).toBe('damaged')
    expect(await kindOf(other.create())).toBe('damaged')
    const repair = await other.takeOver(identity, { repair: true })
    await repair.accept?.()
    await repair.release()
    expect(await other.keys.list()).toEqual([])
    await other.keys.add(stored)
    expect((await check(target.reopen())).id).toBe(stored.id)
    await (await other.takeOver(identity)).release()
  })
})

/** A batch that creates a document. A rollback deletes it. */
function withNew(height: number): Batch {
  const batch = tellingBatch(height, height)
  return { ...batch, changes: [...batch.changes, { index: wealth, doc: wealthDoc('c', 1n) }] }
}

const readNames = async (target: TestElastic): Promise<readonly string[]> =>
  Object.keys(await target.ask<object>('GET', '*?expand_wildcards=all')).toSorted()

type Work = {
  readonly name: string
  readonly removed: readonly string[]
  readonly repair?: true
  readonly chunk?: BatchSize
  readonly work: (writer: Writer) => Promise<unknown>
}

const works: readonly Work[] = [
  {
    name: 'a batch without the indices of history and state',
    removed: ['blocks-000000', 'transactions-000000', 'records-000000', 'state-0'],
    work: writer => commitBatch(writer, withNew(HEIGHT + 2)),
  },
  {
    name: 'history ahead of its batch',
    removed: ['blocks-000000', 'transactions-000000', 'records-000000'],
    work: async writer => await writer.append(tellingBatch(HEIGHT + 2, HEIGHT + 2)),
    chunk: { documents: 1, bytes: 1 },
  },
  {
    name: 'documents that are put right',
    removed: ['state-0', 'records-000000'],
    repair: true,
    work: writer =>
      writer.rewrite({
        put: [{ index: wealth, doc: wealthDoc('d', 1n) }],
        remove: [
          { index: wealth, id: 'c' },
          { index: records, id: recordDoc(1, 0).id },
        ],
        unplace: [],
      }),
  },
  {
    name: 'a batch that is taken back, and a published height',
    removed: ['state-0', 'meta-0'],
    repair: true,
    work: writer => writer.takeBack(HEIGHT),
  },
]

/** The server creates indices with this prefix on their first write, and no others. */
const PREFIX = 'test-auto'

/** The default of Elasticsearch, which the tests' server does not have. */
describe.skipIf(elasticsearchUrl() === undefined)('a server that creates any index on its first write', () => {
  const url = elasticsearchUrl()
  const allow = (pattern: string | null) =>
    ask('PUT', `${url}/_cluster/settings`, { persistent: { 'action.auto_create_index': pattern } })
  const options = () => ({ prefix: `${PREFIX}${crypto.randomUUID().slice(0, 13)}`, retryTimeoutMs: 1_000 })
  beforeAll(async () => {
    await allow(`+${PREFIX}*`)
    const unknown = `${PREFIX}-${crypto.randomUUID()}`
    await ask('PUT', `${url}/${unknown}/_doc/1`, {})
    expect(Object.keys(await ask<object>('GET', `${url}/${unknown}`))).toEqual([unknown])
    await ask('DELETE', `${url}/${unknown}`)
  })
  afterAll(() => allow(null))

  for (const { name, removed, repair = false, chunk, work } of works)
    test(`${name}: no index is created`, async () => {
      await using target = openTestElastic(options())
      await fillStore(target.store, tellingBatch(0, HEIGHT), withNew(HEIGHT + 1))
      const writer = await target.reopen(chunk === undefined ? {} : { chunk }).takeOver(identity, { repair })
      const before = await readNames(target)
      const lost = removed.map(index => `${target.prefix}-${index}`)
      for (const index of removed) await remove(target, index)
      await failureOf(work(writer))
      await writer.release().catch(() => {})
      expect(await readNames(target)).toEqual(before.filter(index => !lost.includes(index)))
    })

  test('a store that was never created, and keys of a store whose index is gone: no index is created', async () => {
    await using target = openTestElastic(options())
    const { store } = target
    await failureOf(store.takeOver(identity))
    await failureOf(store.keys.add(stored))
    expect(await store.keys.revoke(stored.id, 1)).toBe(false)
    expect(await readNames(target)).toEqual([])
    await store.create()
    await store.keys.add(stored)
    const before = await readNames(target)
    await remove(target, 'keys-0')
    await failureOf(store.keys.add({ ...stored, id: 'b' }))
    await failureOf(store.keys.revoke(stored.id, 1))
    expect(await readNames(target)).toEqual(before.filter(index => index !== `${target.prefix}-keys-0`))
  })
})
