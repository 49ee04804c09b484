import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import type { Order } from '#indices/define.ts'
import { blockId, lists } from '#indices/list.ts'
import type { StateIndex } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import type { Store, View } from '#store/port.ts'
import { type Generated, serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { type Truth, truthAt } from '../generator/truth.ts'
import type { World } from '../generator/world.ts'
import { diesAt } from '../support/processes/doomed.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { differences } from '../support/stores/dump.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { loadFrom } from '../support/stores/loading.ts'
import { elasticPlace, type Place, sqlitePlace } from '../support/stores/place.ts'
import { removeTestState } from '../support/stores/test-state.ts'

/** Enough for a dozen segments of each ranking. Set HOLDERS=30000 or more for longer runs. */
const HOLDERS = Number(process.env['HOLDERS'] ?? 2_000)
/** Several history partitions, so that batches coincide with their openings. */
const PARTITION = 3_000
const SETTINGS = { ...small('mixed'), holders: HOLDERS, voters: Math.floor(HOLDERS / 2), blocks: SOAK ? 200 : 140 }
const UNBOUNDED = Number.MAX_SAFE_INTEGER
const MS = 600_000

type Ranking = {
  readonly index: StateIndex
  readonly order: string
  readonly group?: string
  readonly truth: readonly (readonly [name: string, units: bigint])[]
}

const rankingsOf = (truth: Truth): readonly Ranking[] => [
  ...['coin', 'iost'].map(group => ({ index: balances, order: 'holders', group, truth: truth.holders(group) })),
  { index: votes, order: 'voters', group: 'producer000', truth: truth.voters('producer000') },
  { index: wealth, order: 'richest', truth: truth.wealth().map(({ owner, total }) => [owner, total] as const) },
]

async function pageOf(view: View, { index, order, group }: Ranking, offset: number, limit: number) {
  const part = { ...(group === undefined ? {} : { group }), offset, limit }
  const docs = await view.page(index, order as never, part)
  const [[amount = ''] = [], [name = ''] = []] = (index.orders as Readonly<Record<string, Order>>)[order]?.by ?? []
  return docs.map(doc => [Reflect.get(doc, name), Reflect.get(doc, amount)] as const)
}

/** Compares every `step`th page of a size, and the last pages, with the truth. */
async function requirePages(store: Store, ranking: Ranking, size: number, step: number): Promise<void> {
  const { truth } = ranking
  await store.read(async view => {
    for (let offset = 0; offset <= truth.length; offset += size) {
      const isLast = offset + 2 * size > truth.length
      if (!isLast && (offset / size) % step !== 0) continue
      const rows = await pageOf(view, ranking, offset, size)
      const { name } = ranking.index
      expect([name, offset, rows]).toEqual([name, offset, truth.slice(offset, offset + size)])
    }
  })
}

type Extent = {
  /** Step between the checked pages of size 7 and of size 500 while the chain grows. */
  readonly of7: number
  readonly of500: number
  /** Maximum documents per batch of the complete loads. */
  readonly most: number
}

function rankingsOn(open: () => Promise<Place>, extent: Extent) {
  let node: Generated
  let clean: Awaited<ReturnType<Place['dump']>>
  beforeAll(async () => {
    node = serveGenerated(SETTINGS)
    const place = await open()
    await loadFrom(node.url, place.store, { prove: 'linked' })
    clean = await place.dump()
    await place.destroy()
  }, MS)
  afterAll(() => node.stop())

  test(
    'every page of every ranking is correct for its height at any division of blocks into batches',
    async () => {
      const seed = seedOf(5)
      const random = seeded(seed)
      const place = await open()
      for (let to = 8; ; to = Math.min(SETTINGS.blocks, to + 1 + Math.floor(random() * 100))) {
        const batch = { documents: 20 + Math.floor(random() ** 2 * extent.most), bytes: UNBOUNDED }
        expect([seed, await loadFrom(node.url, place.store, { to, batch, prove: 'linked' })]).toEqual([seed, to])
        expect((await place.store.published())?.height).toBe(to)
        const truth = truthAt(node.chain.world, to)
        for (const ranking of rankingsOf(truth)) {
          await requirePages(place.store, ranking, 500, extent.of500)
          await requirePages(place.store, ranking, 7, extent.of7)
          await requirePages(place.store, ranking, 5_000, 1)
        }
        if (to === SETTINGS.blocks) break
      }
      const dump = await place.dump()
      await place.destroy()
      expect([seed, differences(dump, clean)]).toEqual([seed, []])
      expect([...clean.keys()].filter(key => key.startsWith('segments/')).length).toBeGreaterThanOrEqual(8)
    },
    MS,
  )
}

// In every run, Elasticsearch pages rankings in the contract of stores and in `test/generator/in-stores.test.ts`.
describe('rankings in SQLite', () => rankingsOn(sqlitePlace, { of7: SOAK ? 1 : 8, of500: 1, most: 800 }))
if (SOAK)
  describe.skipIf(elasticsearchUrl() === undefined)('rankings in Elasticsearch', () =>
    rankingsOn(() => elasticPlace(PARTITION), { of7: 67, of500: 3, most: 4_000 }),
  )

const SMALL = { ...small('mixed'), holders: 100, voters: 20, blocks: 40 }
/** Documents per batch, a few blocks, and per partition of the loaders that are killed. */
const [BATCH, FEW] = [40, 200]

/** Compares what a reader sees with the truth. Returns its height; -1: nothing is loaded; undefined: readers wait. */
async function readWhole(store: Store, world: World, waitMs: number): Promise<number | undefined> {
  if ((await store.published()) === undefined) return -1
  const look = async (view: View): Promise<number> => {
    const { height } = view.at
    const truth = truthAt(world, height)
    expect((await view.get(statistics, STATISTICS))?.transaction_count).toBe(truth.transactions)
    for (const ranking of rankingsOf(truth))
      expect(await pageOf(view, ranking, 0, 5_000)).toEqual([...ranking.truth] as never)
    const [last, next] = await view.getMany(blocks, [blockId(height), blockId(height + 1)])
    expect([last?.height, next]).toEqual([height, undefined])
    const list = await view.get(lists, 'contract/token.iost')
    const rows = list && (await view.records(list, 1, list.count))
    expect(rows?.length).toBe(truth.count('contract/token.iost'))
    return height
  }
  try {
    return await store.read(look, { signal: AbortSignal.timeout(waitMs) })
  } catch (error) {
    if (error instanceof Failure && error.kind === 'deadline') return undefined
    throw error
  }
}

type Kills = {
  readonly open: () => Promise<Place>
  /** The number of the write at which the loader dies after so many kills. It grows, so that one loader completes. */
  readonly writeAt: (kills: number) => number
  readonly losesState?: true
}

function killLoaders(what: string, { open, writeAt, losesState }: Kills): void {
  test(`${what}: after a kill at any write readers see whole, increasing heights, and the next loaders store the same as an undisturbed one`, async () => {
    const node = serveGenerated(SMALL)
    const [place, clean] = [await open(), await open()]
    await place.store.create()
    const after = [SMALL.blocks, BATCH].map(String)
    const task = { program: 'load-process.ts', before: [node.url], place: place.args, after }
    let [kills, highest] = [0, -1]
    for (; await diesAt(writeAt(kills), task); kills++) {
      if (losesState) removeTestState(place.args[2] ?? '')
      const height = await readWhole(place.store, node.chain.world, 250)
      if (height === undefined) continue
      expect(height).toBeGreaterThanOrEqual(highest)
      highest = height
    }
    expect(kills).toBeGreaterThan(4)
    expect(await readWhole(place.store, node.chain.world, 60_000)).toBe(SMALL.blocks)
    await loadFrom(node.url, clean.store, { prove: 'linked' })
    expect(differences(await place.dump(), await clean.dump())).toEqual([])
    process.stderr.write(`${kills} loaders killed\n`)
    await Promise.all([place.destroy(), clean.destroy(), node.stop()])
  })
}

// Killed at every request with SOAK, else at some of all kinds.
killLoaders('SQLite', { open: sqlitePlace, writeAt: kills => Math.floor(40 * (SOAK ? 1.2 : 2.4) ** kills) })
describe.skipIf(elasticsearchUrl() === undefined)('loaders killed', () => {
  const open = () => elasticPlace(FEW)
  killLoaders('Elasticsearch', { open, writeAt: kills => 1 + kills * (SOAK ? 1 : 11) })
  killLoaders('Elasticsearch and a lost state file', {
    open,
    writeAt: kills => 1 + kills * (SOAK ? 1 : 17),
    losesState: true,
  })
})
