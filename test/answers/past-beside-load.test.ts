import { afterAll, describe, expect, test } from 'bun:test'
import { createRankingCache } from '#actions/find/caches.ts'
import type { Store, View } from '#store/port.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { askText } from '../support/stores/ask.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'

/** The number of blocks stored before the first call, and of blocks that arrive one by one during the calls. */
const [FIRST, MORE] = [1_600, 12]

/** A load that waits after each of its last blocks until `step` continues it. */
async function loadInSteps(store: Store) {
  const chain = (await recordedBlocks()).slice(0, FIRST + MORE)
  const runs = [chain.slice(0, FIRST), ...chain.slice(FIRST).map(block => [block])]
  const begun = Promise.withResolvers<void>()
  let [wanted, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let [isOver, steps] = [false, Promise.resolve()]
  const loading = commitRuns(store, runs, {
    lib: FIRST + MORE - 1,
    onCommitted: async () => {
      begun.resolve()
      told.resolve()
      if (!isOver) await wanted.promise
      wanted = Promise.withResolvers()
    },
  }).finally(() => {
    isOver = true
    told.resolve()
  })
  await begun.promise
  return {
    /** Resolves when one more block is published, or when all are. */
    step: (): Promise<void> => {
      steps = steps.then(async () => {
        if (isOver) return
        told = Promise.withResolvers()
        wanted.resolve()
        await told.promise
      })
      return steps
    },
    end: async (): Promise<void> => {
      isOver = true
      wanted.resolve()
      await loading
    },
  }
}

describe.skipIf(elasticsearchUrl() === undefined)('rankings of the past during a load', () => {
  const opened = elasticsearchUrl() === undefined ? undefined : openTestElastic({ leaseMs: 60_000 })
  afterAll(() => opened?.destroy())

  test('each ranking is computed once, at one height, however many blocks are published meanwhile', async () => {
    if (opened === undefined) throw new Error('There is no store.')
    const { step, end } = await loadInSteps(opened.store)
    let [held, steps] = [0, 0]
    const beside = (view: View): View => ({
      ...view,
      getMany: async (index, ids) => {
        steps += 1
        await step()
        return view.getMany(index, ids)
      },
    })
    const reader = opened.reopen()
    const store: Store = {
      ...reader,
      read: (work, how) =>
        reader.read(
          view =>
            work({
              ...view,
              hold: async state => {
                held += 1
                const of = await view.hold?.(state)
                if (of === undefined) throw new Error('Elasticsearch holds no view.')
                return { ...of, view: beside(of.view) }
              },
            }),
          how,
        ),
    }
    const calls = [
      ['get-token-holder', { token: 'iost', at_block: '1500', size: '500' }],
      ['get-producer-voter', { producer: 'prod_02', at_block: '1500' }],
      ['get-reward-shares', { producer: 'prod_02', start_block: '500', end_block: '1500' }],
    ] as const
    for (const [action, params] of calls) {
      held = 0
      expect(await askText(action, params, { deps: { store, rankings: createRankingCache() } })).toBe(
        await askText(action, params),
      )
      // A read that is restarted at a newer height finds the ranking that was already computed.
      expect(held).toBe(1)
    }
    expect(steps).toBeGreaterThan(0)
    await end()
  })
})
