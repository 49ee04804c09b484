import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { lists } from '#indices/list.ts'
import { transactions } from '#indices/transaction.ts'
import { wealth } from '#indices/wealth.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { ElasticStore } from '#store/elastic/open-elastic.ts'
import type { Store } from '#store/port.ts'
import { identity, listAt, publishedAt, tellingBatch, totalAt, transactionDoc } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
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
  await target.store.create()
  const writer = await target.store.takeOver(identity)
  await commitBatch(writer, tellingBatch(0, HEIGHT))
  await writer.release()
  return target
}

/** Runs work, which may damage it, on such a store. */
async function withLoaded(work: (target: TestElastic) => Promise<void>): Promise<void> {
  const target = await openLoaded()
  try {
    await work(target)
  } finally {
    await target.destroy()
  }
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

/** Removes the aliases of an index. The returned function restores them. */
async function hide(target: TestElastic, name: string): Promise<() => Promise<unknown>> {
  const index = `${target.prefix}-${name}`
  const aliases = Object.keys((await readIndex(target, name)).aliases).map(alias => ({ index, alias }))
  const change = (how: 'add' | 'remove') =>
    changeAliases(
      target,
      aliases.map(each => ({ [how]: each })),
    )
  await change('remove')
  return () => change('add')
}

/** Closes an index. The returned function opens it. */
async function close({ ask }: TestElastic, name: string): Promise<() => Promise<unknown>> {
  await ask('POST', `${name}/_close`)
  return () => ask('POST', `${name}/_open?wait_for_active_shards=1`)
}

type Damage = (target: TestElastic, name: string) => Promise<unknown>
const remove: Damage = ({ ask }, name) => ask('DELETE', name)

/** For meta, a lost document has tests of its own. */
const damages: readonly (readonly [
  name: string,
  damage: Damage,
  of: readonly IndexName[],
  loader: 'damaged' | 'unavailable',
  help: RegExp,
])[] = [
  ['is deleted', remove, indices, 'damaged', /snapshot|iostlens repair|load anew into another prefix/],
  ['is made anew, empty', recreate, ['records-000000', 'state-0', 'meta-0'], 'damaged', /iostlens repair|snapshot/],
  ['is closed', close, ['blocks-000000', 'meta-0'], 'unavailable', /_open/],
  ['has lost its aliases', hide, ['records-000000', 'meta-0'], 'unavailable', /iostlens indices create|snapshot/],
  ['has lost a document', removeOne, ['records-000000', 'state-0'], 'damaged', /iostlens repair/],
]
const cases = damages.flatMap(([what, damage, of, loader, help]) =>
  of.map(name => ({ what, damage, name, loader, help })),
)
/** No document is lost, and the damage returns a function that repairs it. */
const isMended = ({ damage }: (typeof cases)[number]): boolean => damage === close || damage === hide
/** Readers access these indices by name. Without the alias of meta there is no published height. */
const isUnseen = ({ damage, name }: (typeof cases)[number]): boolean => damage === hide && name !== 'meta-0'

let mended: Promise<TestElastic> | undefined

/** One loaded store for all damages that keep every document. The next take-over completes an unfinished batch. */
async function withMended(body: (target: TestElastic) => Promise<void>): Promise<void> {
  mended ??= openLoaded()
  const target = await mended
  await body(target)
  await (await target.reopen().takeOver(identity)).release()
}

/** The documents that every reader of this test reads. */
const look = (store: Store) =>
  store.read(async view => {
    const list = (await view.get(lists, listAt(0).id)) ?? { ...listAt(0), count: 0 }
    const page = await view.page(wealth, 'richest', { offset: 0, limit: 9 })
    return {
      height: view.at.height,
      rows: (await view.records(list, 1, list.count)).map(({ height }) => height),
      page: page.map(({ id, total }) => [id, total]),
    }
  })
const seenAt = (height: number) => ({
  height,
  rows: Array.from({ length: height + 1 }, (_, row) => row),
  page: ['a', 'b'].map(id => [id, totalAt(height)]),
})

type Place = { readonly service: ElasticStore; readonly target: TestElastic; readonly height: number }

async function expectTold({ service, target, height }: Place, asked: (typeof cases)[number]): Promise<void> {
  const { name, loader, help } = asked
  if (isUnseen(asked)) return expect(await look(service)).toEqual(seenAt(height))
  const refused = await failureOf(look(service))
  expect(['unavailable', loader]).toContain(refused.kind)
  if (name === 'meta-0') return
  expect(refused.message).toContain(`${target.prefix}-${name}`)
  expect(refused.help).toMatch(help)
  expect((await failureOf(service.whole())).message).toBe(refused.message)
  const found = await service.check()
  expect(found.map(({ name: index, problem }) => [index, problem])).toContainEqual([name, 'lost'])
}

describe.skipIf(elasticsearchUrl() === undefined)('an index that vanished', () => {
  afterAll(async () => (await mended)?.destroy())

  for (const each of cases) {
    const { what, damage, name, loader: kind, help } = each
    test(`${name} ${what} under a service and a loader: the service reports it instead of an answer, nothing is published, and the next loader refuses`, () =>
      (isMended(each) ? withMended : withLoaded)(async target => {
        let passed = 0
        const service = target.reopen({ clock: { elapsed: () => performance.now() + passed } })
        const { height = -1 } = (await service.published()) ?? {}
        expect(height).toBeGreaterThanOrEqual(HEIGHT)
        expect(await look(service)).toEqual(seenAt(height))
        const loader = target.reopen()
        const writer = await loader.takeOver(identity)
        const mend = await damage(target, name)
        passed += 2_000
        await expectTold({ service, target, height }, each)

        const unpublished = await failureOf(commitBatch(writer, tellingBatch(height + 1, height + 1)))
        expect(['damaged', 'conflict', kind]).toContain(unpublished.kind)
        expect(unpublished.help).toMatch(help)
        if (name !== 'meta-0') expect((await loader.published())?.height).toBe(height)

        // The loader's process ends. A store without meta has no lease to release.
        await writer.release().catch(() => undefined)
        const refused = await failureOf(target.reopen().takeOver(identity))
        expect(['damaged', 'conflict', kind]).toContain(refused.kind)
        const said = `${refused.message} ${refused.help}`
        for (const part of [target.prefix, name.replace(/-0$/, '')]) expect(said).toContain(part)
        expect(refused.help).toMatch(help)
        if (typeof mend === 'function') await mend()
      }))
  }

  test('indices that are emptied: no document is called missing, not even before the next check of the store', () =>
    withLoaded(async target => {
      const calls: Readonly<Record<string, (service: Store) => Promise<unknown>>> = {
        'transactions-000000': service =>
          service.read(view => view.find(transactions, 'hash8', transactionDoc(1, 1).hash8)),
        'state-0': service =>
          service.read(async view => {
            const hits = await view.page(wealth, 'richest', { offset: 0, limit: 9 })
            if (hits.length === 0) throw new Failure('not_found', 'Nobody is rich.')
            return hits
          }),
      }
      // Their clocks stand still, so they do not repeat their check of the store, which is due once a second.
      const services = Object.keys(calls).map(() => target.reopen({ clock: { elapsed: () => 0 } }))
      for (const service of services) expect(await look(service)).toEqual(seenAt(HEIGHT))
      for (const [at, [name, call]] of Object.entries(calls).entries()) {
        const service = services[at] ?? target.store
        expect(await call(service)).toBeTruthy()
        await recreate(target, name)
        expect((await failureOf(call(service))).kind).toBe('damaged')
      }
    }))

  test('work continues after a closed or hidden index is repaired', () =>
    withLoaded(async target => {
      const open = await close(target, 'state-0')
      let passed = 0
      const other = target.reopen({ clock: { elapsed: () => performance.now() + passed } })
      expect((await failureOf(other.takeOver(identity))).retryable).toBe(true)
      await hide(target, 'records-000000')
      expect((await failureOf(other.takeOver(identity))).help).toContain('iostlens indices create')
      expect((await failureOf(look(other))).retryable).toBe(true)
      await open()
      await other.create()
      expect(await other.check()).toEqual([])
      const writer = await other.takeOver(identity)
      await commitBatch(writer, tellingBatch(HEIGHT + 1, HEIGHT + 1))
      await writer.release()
      passed += 2_000
      expect(await look(other)).toEqual(seenAt(HEIGHT + 1))
      expect(await other.published()).toEqual(publishedAt(HEIGHT + 1))
    }))
})

describe.skipIf(elasticsearchUrl() === undefined)('a document of meta', () => {
  // A refused call changes nothing, so one store serves for all documents, which are damaged and repaired one by one.
  let target: TestElastic
  beforeAll(async () => {
    target = await openLoaded()
  })
  afterAll(() => target.destroy())

  /** Deletes or replaces a document, runs `see`, and restores the document. */
  async function withDamaged(id: 'checkpoint' | 'published', source: object | undefined, see: () => Promise<void>) {
    const document = `meta-0/_doc/${id}?refresh=true`
    const { _source } = await target.ask<{ readonly _source: object }>('GET', document)
    await (source === undefined ? target.ask('DELETE', document) : target.ask('PUT', document, source))
    await see()
    await target.ask('PUT', document, _source)
    expect(await target.reopen().read(async view => view.at)).toEqual(publishedAt(HEIGHT))
  }

  for (const [what, source, says] of [
    ['is deleted', undefined, /no checkpoint in .*-meta/],
    ['contains nothing', {}, /'checkpoint' of .*-meta at .* is unreadable or invalid/],
    [
      'contains half of its text',
      { body: '{"schema":1,"chain' },
      /'checkpoint' of .*-meta at .* is unreadable or invalid/,
    ],
  ] as const)
    test(`a checkpoint that ${what} is refused by its name, and the store is never loaded from the start`, () =>
      withDamaged('checkpoint', source, async () => {
        const other = target.reopen()
        for (const call of [
          () => other.create().then(() => other.takeOver(identity)),
          () => other.takeOver(identity),
        ]) {
          const refused = await failureOf(call())
          expect(refused.kind).toBe('damaged')
          expect(refused.message).toMatch(says)
          expect(refused.help).toMatch(/iostlens repair/)
        }
        // A read-only process does not mistake it for a store without blocks either.
        const seen = await failureOf(other.check())
        expect([seen.kind, /no checkpoint in|'checkpoint' of/.test(seen.message)]).toEqual(['damaged', true])
      }))

  test('a published height that cannot be read is not used for an answer', () =>
    withDamaged('published', { body: '{"end' }, async () => {
      const refused = await failureOf(target.reopen().read(async view => view.at))
      expect([refused.kind, refused.retryable]).toEqual(['damaged', false])
      expect(refused.message).toMatch(/'published' of .*-meta/)
    }))

  test('a deleted published height is published again by the next loader', async () => {
    await target.ask('DELETE', 'meta-0/_doc/published?refresh=true')
    const other = target.reopen()
    expect((await failureOf(other.read(async view => view.at))).kind).toBe('unavailable')
    const writer = await other.takeOver(identity)
    expect(await other.published()).toEqual(publishedAt(HEIGHT))
    await commitBatch(writer, tellingBatch(HEIGHT + 1, HEIGHT + 1))
    await writer.release()
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
    test(`${name}: no key is called unknown, added or revoked`, () =>
      withLoaded(async target => {
        await target.store.keys.add(stored)
        const service = target.reopen()
        expect((await check(service)).id).toBe(stored.id)
        await damage(target, 'keys-0')
        // A process that had read the index before, and a new one.
        for (const store of [service, target.reopen()]) {
          expect((await failureOf(check(store))).kind).toBe(kind)
          for (const call of [
            () => store.keys.list(),
            () => store.keys.add({ ...stored, id: 'b' }),
            () => store.keys.revoke(stored.id, NOW),
          ]) {
            const refused = await failureOf(call())
            expect(refused.kind).toBe(kind)
            expect(refused.message).toContain(`${target.prefix}-keys-0`)
            expect(refused.help).toMatch(/iostlens repair|iostlens indices create/)
          }
        }
        if (damage !== redirect) return
        // `indices create` does not add the alias again, because keys may be revoked in the other index.
        await failureOf(target.reopen().create())
        expect((await readIndex(target, 'keys-0')).aliases).toEqual({})
      }))

  test('a repair accepts the index of keys in its current form', () =>
    withLoaded(async target => {
      await target.store.keys.add(stored)
      await target.ask('DELETE', 'keys-0')
      const other = target.reopen()
      expect((await failureOf(other.takeOver(identity))).kind).toBe('damaged')
      expect((await failureOf(other.create())).kind).toBe('damaged')
      const repair = await other.takeOver(identity, { repair: true })
      await repair.accept?.()
      await repair.release()
      expect(await other.keys.list()).toEqual([])
      await other.keys.add(stored)
      expect((await check(target.reopen())).id).toBe(stored.id)
      await (await other.takeOver(identity)).release()
    }))
})
