import { describe, expect, test } from 'bun:test'
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
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { type Truth, truthAt } from '../generator/truth.ts'
import type { World } from '../generator/world.ts'
import { diesAt } from '../support/processes/doomed.ts'
import { SOAK } from '../support/processes/soak.ts'
import { differences } from '../support/stores/dump.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { loadFrom } from '../support/stores/loading.ts'
import { elasticPlace, type Place, sqlitePlace } from '../support/stores/place.ts'
import { removeTestState } from '../support/stores/test-state.ts'

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

async function pageOf(
  view: View,
  { index, order, group }: Ranking,
  offset: number,
  limit: number,
): Promise<readonly unknown[]> {
  const part = { ...(group === undefined ? {} : { group }), offset, limit }
  const docs = await view.page(index, order as never, part)
  const [[amount = ''] = [], [name = ''] = []] = (index.orders as Readonly<Record<string, Order>>)[order]?.by ?? []
  return docs.map(doc => [Reflect.get(doc, name), Reflect.get(doc, amount)] as const)
}

/** Rankings with several segments each. */
const SMALL = { ...small('mixed'), holders: 620, voters: 100, blocks: 20 }
/** Documents per batch, a few blocks, and per partition of the loaders that are killed. */
const [BATCH, FEW] = [40, 200]

/**
 * Compares what a reader sees with the truth, rankings also in pages from each `step`th rank on. Returns its height; -1:
 * nothing is loaded; undefined: readers wait.
 */
async function readWhole(store: Store, world: World, step: number, waitMs: number): Promise<number | undefined> {
  if ((await store.published()) === undefined) return -1
  const look = async (view: View): Promise<number> => {
    const { height } = view.at
    const truth = truthAt(world, height)
    expect((await view.get(statistics, STATISTICS))?.transaction_count).toBe(truth.transactions)
    for (const ranking of rankingsOf(truth)) {
      const all: readonly unknown[] = ranking.truth
      expect(await pageOf(view, ranking, 0, 5_000)).toEqual(all)
      for (let offset = step; offset <= all.length; offset += step)
        expect([offset, await pageOf(view, ranking, offset, 7)]).toEqual([offset, all.slice(offset, offset + 7)])
    }
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
  readonly step: number
}

function killLoaders(what: string, { open, writeAt, losesState, step }: Kills): void {
  test(`${what}: after a kill at any write readers see whole, increasing heights, and the next loaders store the same as an undisturbed one`, async () => {
    const node = serveGenerated(SMALL)
    const [place, clean] = [await open(), await open()]
    await place.store.create()
    const after = [SMALL.blocks, BATCH].map(String)
    const task = { program: 'load-process.ts', before: [node.url], place: place.args, after }
    let [kills, highest] = [0, -1]
    for (; await diesAt(writeAt(kills), task); kills++) {
      if (losesState) removeTestState(place.args[2] ?? '')
      const height = await readWhole(place.store, node.chain.world, step, 500)
      if (height === undefined) continue
      expect(height).toBeGreaterThanOrEqual(highest)
      highest = height
    }
    expect(kills).toBeGreaterThan(4)
    expect(await readWhole(place.store, node.chain.world, 7, 60_000)).toBe(SMALL.blocks)
    await loadFrom(node.url, clean.store, { prove: 'linked' })
    expect(differences(await place.dump(), await clean.dump())).toEqual([])
    process.stderr.write(`${kills} loaders killed\n`)
    await Promise.all([place.destroy(), clean.destroy(), node.stop()])
  })
}

// Killed at every request with SOAK, else at some of all kinds.
killLoaders('SQLite', { open: sqlitePlace, step: 7, writeAt: kills => Math.floor(40 * (SOAK ? 1.2 : 2.4) ** kills) })
describe.skipIf(elasticsearchUrl() === undefined)('loaders killed', () => {
  const open = () => elasticPlace(FEW)
  killLoaders('Elasticsearch', { open, step: 250, writeAt: kills => 1 + kills * (SOAK ? 1 : 11) })
  killLoaders('Elasticsearch and a lost state file', {
    ...{ open, step: 250 },
    writeAt: kills => 1 + kills * (SOAK ? 1 : 17),
    losesState: true,
  })
})
