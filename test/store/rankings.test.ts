import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import type { Order } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import { votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import type { Store, View } from '#store/port.ts'
import { type Generated, serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { type Truth, truthAt } from '../generator/truth.ts'
import { killUntilLoaded } from '../support/processes/kill.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { differences } from '../support/stores/dump.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { loadFrom } from '../support/stores/loading.ts'
import { elasticPlace, type Place, sqlitePlace } from '../support/stores/place.ts'

/** Enough for a dozen segments of each ranking. Set HOLDERS=30000 or more for longer runs. */
const HOLDERS = Number(process.env['HOLDERS'] ?? 2_000)
/** Several history partitions, so that batches and kills coincide with their openings. */
const PARTITION = 3_000
const SETTINGS = { ...small('mixed'), holders: HOLDERS, voters: Math.floor(HOLDERS / 2), blocks: SOAK ? 200 : 140 }
/** Maximum documents per batch of the loaders that are killed. */
const KILLED = 1_000
const UNBOUNDED = Number.MAX_SAFE_INTEGER
const MS = 600_000

type Ranked = readonly (readonly [name: string, units: bigint])[]
type Ranking = {
  readonly index: StateIndex
  readonly order: string
  readonly group?: string
  readonly truth: Ranked
}

const rankingsOf = (truth: Truth): readonly Ranking[] => [
  ...['coin', 'iost'].map(group => ({
    index: balances,
    order: 'holders',
    group,
    truth: truth.holders(group),
  })),
  { index: votes, order: 'voters', group: 'producer000', truth: truth.voters('producer000') },
  {
    index: wealth,
    order: 'richest',
    truth: truth.wealth().map(({ owner, total }) => [owner, total] as const),
  },
]

async function pageOf(view: View, { index, order, group }: Ranking, offset: number, limit: number) {
  const part = { ...(group === undefined ? {} : { group }), offset, limit }
  const docs = await view.page(index, order as never, part)
  const [[amount = ''] = [], [name = ''] = []] = (index.orders as Readonly<Record<string, Order>>)[order]?.by ?? []
  return docs.map(doc => [Reflect.get(doc, name), Reflect.get(doc, amount)] as const)
}

/** Compares every `step`th page of a size, and the last pages, with the truth. Returns the number of pages. */
async function requirePages(store: Store, ranking: Ranking, size: number, step: number): Promise<number> {
  const { truth } = ranking
  let checked = 0
  await store.read(async view => {
    for (let offset = 0; offset <= truth.length; offset += size) {
      const isLast = offset + 2 * size > truth.length
      if (!isLast && (offset / size) % step !== 0) continue
      const rows = await pageOf(view, ranking, offset, size)
      expect([ranking.index.name, offset, rows]).toEqual([
        ranking.index.name,
        offset,
        truth.slice(offset, offset + size),
      ])
      checked++
    }
  })
  return checked
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

  if (SOAK)
    test(
      'loaders killed at random moments store the same segments and pages',
      async () => {
        const seed = seedOf(13)
        const place = await open()
        await place.store.create()
        const aim = { url: node.url, to: SETTINGS.blocks, documents: KILLED }
        const kills = await killUntilLoaded(place, aim, seeded(seed))
        for (const ranking of rankingsOf(truthAt(node.chain.world, SETTINGS.blocks)))
          await requirePages(place.store, ranking, 500, 1)
        const dump = await place.dump()
        await place.destroy()
        expect([seed, differences(dump, clean)]).toEqual([seed, []])
        expect(kills).toBeGreaterThanOrEqual(3)
      },
      MS,
    )
}

// In every run, loaders are killed by `test/load/loader-kills.test.ts` and `test/store/sqlite/crash.test.ts`.
describe('rankings in SQLite', () => rankingsOn(sqlitePlace, { of7: SOAK ? 1 : 8, of500: 1, most: 800 }))
describe.skipIf(elasticsearchUrl() === undefined)('rankings in Elasticsearch', () =>
  rankingsOn(() => elasticPlace(PARTITION), { of7: SOAK ? 67 : 140, of500: 3, most: 4_000 }),
)
