import { afterAll, describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { lists } from '#indices/list.ts'
import { blockId } from '#indices/position.ts'
import { transactions } from '#indices/transaction.ts'
import { wealth } from '#indices/wealth.ts'
import type { ElasticStore } from '#store/elastic/open-elastic.ts'
import type { Store } from '#store/port.ts'
import { identity, listAt, publishedAt, tellingBatch, totalAt, transactionDoc } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { loadedTo, onLoaded } from './on-loaded.ts'

const HEIGHT = 3

/** One index of each kind. */
const indices = ['blocks-000000', 'records-000000', 'state-0', 'meta-0'] as const
type IndexName = (typeof indices)[number]

const at = ({ url, prefix }: TestElastic, name: string): string => `${url}/${prefix}-${name}`

type Index = { readonly mappings: object; settings: { index: Record<string, unknown> }; aliases: object }
type Told = Readonly<Record<string, Index>>

/** Deletes an index and creates it again with the same settings, empty. */
async function recreate(target: TestElastic, name: IndexName | 'transactions-000000'): Promise<void> {
  const told = Object.values(await ask<Told>('GET', at(target, name)))[0]
  const { number_of_shards, number_of_replicas, refresh_interval, sort } = told?.settings.index ?? {}
  await ask('DELETE', at(target, name))
  await ask('PUT', at(target, name), {
    mappings: told?.mappings,
    aliases: told?.aliases,
    settings: { index: { number_of_shards, number_of_replicas, refresh_interval, sort } },
  })
  await ask('GET', `${target.url}/_cluster/health/${target.prefix}-${name}?wait_for_status=green`)
}

async function removeOne(target: TestElastic, name: IndexName): Promise<void> {
  const { hits } = await ask<{ hits: { hits: { _id: string }[] } }>('GET', `${at(target, name)}/_search?size=1`)
  const id = encodeURIComponent(hits.hits[0]?._id ?? '')
  await ask('DELETE', `${at(target, name)}/_doc/${id}?refresh=true`)
}

/** Removes the aliases of an index. The returned function restores them. */
async function unalias(target: TestElastic, name: IndexName): Promise<() => Promise<void>> {
  const index = `${target.prefix}-${name}`
  const told = Object.values(await ask<Told>('GET', `${target.url}/${index}`))[0]
  const aliases = Object.keys(told?.aliases ?? {}).map(alias => ({ index, alias }))
  const change = async (how: 'add' | 'remove'): Promise<void> => {
    await ask('POST', `${target.url}/_aliases`, { actions: aliases.map(each => ({ [how]: each })) })
  }
  await change('remove')
  return () => change('add')
}

/** Closes an index. The returned function opens it. */
async function close(target: TestElastic, name: IndexName): Promise<() => Promise<unknown>> {
  await ask('POST', `${at(target, name)}/_close`)
  return () => ask('POST', `${at(target, name)}/_open?wait_for_active_shards=1`)
}

type Damage = {
  readonly name: string
  readonly to: (target: TestElastic, name: IndexName) => Promise<unknown>
  /** No document is lost: `to` returns a function that repairs the damage. */
  readonly isMended?: true
  /** The failure of a loader. */
  readonly loader: 'damaged' | 'unavailable'
  /** Indices whose damage readers need not notice. */
  readonly unseen: readonly IndexName[]
  readonly help: RegExp
}

const damages: readonly Damage[] = [
  {
    name: 'is deleted',
    to: (target, name) => ask('DELETE', at(target, name)),
    loader: 'damaged',
    unseen: [],
    help: /snapshot|iostlens repair|load anew into another prefix/,
  },
  {
    name: 'is made anew, empty',
    to: recreate,
    loader: 'damaged',
    unseen: [],
    help: /iostlens repair|snapshot/,
  },
  {
    name: 'is closed',
    to: close,
    isMended: true,
    loader: 'unavailable',
    unseen: [],
    help: /_open/,
  },
  {
    name: 'has lost its aliases',
    to: unalias,
    isMended: true,
    loader: 'unavailable',
    // Readers access these indices by name. Without the alias of meta there is no published height.
    unseen: indices.filter(name => name !== 'meta-0'),
    help: /iostlens indices create|snapshot/,
  },
  {
    name: 'has lost a document',
    to: removeOne,
    loader: 'damaged',
    unseen: [],
    help: /iostlens repair/,
  },
]

const cases = damages.flatMap(damage =>
  indices
    // Meta has separate tests.
    .filter(name => damage.name !== 'has lost a document' || name !== 'meta-0')
    .map(name => ({ damage, name })),
)

const loaded = () => loadedTo(HEIGHT, { retryTimeoutMs: 2_000 })
const withLoaded = (body: (target: TestElastic) => Promise<void>) => onLoaded(loaded, body)

let mended: Promise<TestElastic> | undefined

/** One loaded store for all damages that keep every document. The next take-over completes an unfinished batch. */
async function withMended(body: (target: TestElastic) => Promise<void>): Promise<void> {
  mended ??= loaded()
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
  page: [
    ['a', totalAt(height)],
    ['b', totalAt(height)],
  ],
})

type Asked = { readonly service: ElasticStore; readonly target: TestElastic; readonly height: number }

async function expectTold({ service, target, height }: Asked, { damage, name }: (typeof cases)[number]): Promise<void> {
  if (damage.unseen.includes(name)) return expect(await look(service)).toEqual(seenAt(height))
  const refused = await failureOf(look(service))
  expect(['unavailable', damage.loader]).toContain(refused.kind)
  if (name === 'meta-0') return
  expect(refused.message).toContain(`${target.prefix}-${name}`)
  expect(refused.help).toMatch(damage.help)
  expect((await failureOf(service.whole())).message).toBe(refused.message)
  const found = await service.check()
  expect(found.map(({ name: index, problem }) => [index, problem])).toContainEqual([name, 'lost'])
}

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  afterAll(async () => (await mended)?.destroy())

  // One store for all cases of a kind, because a refused call changes nothing.
  for (const { damage, name } of cases)
    test(`${name} ${damage.name} under a service and a loader: the service reports it instead of an answer, nothing is published, and the next loader refuses`, () =>
      (damage.isMended ? withMended : withLoaded)(async target => {
        let passed = 0
        const service = target.reopen({ clock: { elapsed: () => performance.now() + passed } })
        const { height = -1 } = (await service.published()) ?? {}
        expect(height).toBeGreaterThanOrEqual(HEIGHT)
        expect(await look(service)).toEqual(seenAt(height))
        const loader = target.reopen()
        const writer = await loader.takeOver(identity)
        const mend = await damage.to(target, name)
        passed += 2_000
        await expectTold({ service, target, height }, { damage, name })

        const unpublished = await failureOf(commitBatch(writer, tellingBatch(height + 1, height + 1)))
        expect(['damaged', 'conflict', damage.loader]).toContain(unpublished.kind)
        expect(unpublished.help).toMatch(damage.help)
        if (name !== 'meta-0') expect((await loader.published())?.height).toBe(height)

        // The loader's process ends. A store without meta has no lease to release.
        await writer.release().catch(() => undefined)
        const refused = await failureOf(target.reopen().takeOver(identity))
        expect(['damaged', 'conflict', damage.loader]).toContain(refused.kind)
        const said = `${refused.message} ${refused.help}`
        for (const part of [target.prefix, name.replace(/-0$/, '')]) expect(said).toContain(part)
        expect(refused.help).toMatch(damage.help)
        if (typeof mend === 'function') await mend()
      }))

  for (const name of ['blocks-000000', 'transactions-000000', 'state-0'] as const)
    test(`${name} that is emptied: no document is called missing, not even before the next check of the store`, () =>
      withLoaded(async target => {
        // Its clock stands still, so it does not repeat its check of the store, which is due once a second.
        const service = target.reopen({ clock: { elapsed: () => 0 } })
        expect(await look(service)).toEqual(seenAt(HEIGHT))
        const calls = {
          'blocks-000000': () => service.read(view => view.get(blocks, blockId(1))),
          'transactions-000000': () =>
            service.read(view => view.find(transactions, 'hash8', transactionDoc(1, 1).hash8)),
          'state-0': () =>
            service.read(async view => {
              const hits = await view.page(wealth, 'richest', { offset: 0, limit: 9 })
              if (hits.length === 0) throw new Failure('not_found', 'Nobody is rich.')
              return hits
            }),
        }
        expect(await calls[name]()).toBeTruthy()
        await recreate(target, name)
        expect((await failureOf(calls[name]())).kind).toBe('damaged')
      }))

  test('work continues after a closed or hidden index is repaired', () =>
    withLoaded(async target => {
      await ask('POST', `${at(target, 'state-0')}/_close`)
      let passed = 0
      const other = target.reopen({ clock: { elapsed: () => performance.now() + passed } })
      expect((await failureOf(other.takeOver(identity))).retryable).toBe(true)
      await unalias(target, 'records-000000')
      expect((await failureOf(other.takeOver(identity))).help).toContain('iostlens indices create')
      expect((await failureOf(look(other))).retryable).toBe(true)
      await ask('POST', `${at(target, 'state-0')}/_open?wait_for_active_shards=1`)
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
