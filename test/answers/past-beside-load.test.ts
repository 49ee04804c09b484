import { expect, test } from 'bun:test'
import { createRankingCache } from '#actions/find/caches.ts'
import type { Store, View } from '#store/port.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { askText } from '../support/stores/ask.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'

/** The number of blocks stored before the first call. During each call another block arrives. */
const FIRST = 1_600
const CALLS = [
  ['get-token-holder', { token: 'iost', at_block: '1500', size: '500' }],
  ['get-producer-voter', { producer: 'prod_02', at_block: '1500' }],
  ['get-reward-shares', { producer: 'prod_02', start_block: '500', end_block: '1500' }],
] as const

test.skipIf(elasticsearchUrl() === undefined)(
  'rankings of the past during a load: each is computed once, at one height, although a block is published meanwhile',
  async () => {
    const opened = openTestElastic({ leaseMs: 60_000 })
    const chain = (await recordedBlocks()).slice(0, FIRST + CALLS.length)
    const runs = [chain.slice(0, FIRST), ...chain.slice(FIRST).map(block => [block])]
    const [published, wanted] = [runs, runs].map(all => all.map(() => Promise.withResolvers<void>()))
    let run = 0
    const loading = commitRuns(opened.store, runs, {
      lib: FIRST + CALLS.length - 1,
      onCommitted: async () => {
        published?.[run]?.resolve()
        run += 1
        await wanted?.[run]?.promise
      },
    })
    await published?.[0]?.promise
    let [called, held, reads] = [0, 0, 0]
    const beside = (view: View): View => ({
      ...view,
      getMany: async (index, ids) => {
        reads += 1
        wanted?.[called]?.resolve()
        await published?.[called]?.promise
        return view.getMany(index, ids)
      },
    })
    const reader = opened.reopen()
    const hold = async (view: View, state: Parameters<NonNullable<View['hold']>>[0]) => {
      held += 1
      const of = await view.hold?.(state)
      if (of === undefined) throw new Error('Elasticsearch holds no view.')
      return { ...of, view: beside(of.view) }
    }
    const store: Store = {
      ...reader,
      read: (work, how) => reader.read(view => work({ ...view, hold: state => hold(view, state) }), how),
    }
    for (const [action, params] of CALLS) {
      ;[called, held] = [called + 1, 0]
      const answer = await askText(action, params, { deps: { store, rankings: createRankingCache() } })
      expect(answer).toBe(await askText(action, params))
      // A read that is restarted at a newer height finds the ranking that was already computed.
      expect([held, reads > 0]).toEqual([1, true])
    }
    for (const each of wanted ?? []) each.resolve()
    await loading
    await opened.destroy()
  },
)
