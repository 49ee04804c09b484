import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'
import { secondOpinion } from '../support/oracle/second-opinion.ts'
import { witness } from '../support/oracle/witness.ts'
import { diesAt } from '../support/processes/doomed.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../support/stores/loading.ts'

setDefaultTimeout(SOAK ? 3_600_000 : 600_000)

const LOADERS = SOAK ? 300 : 4
/** Blocks per loader: more than most of them load before they are killed. */
const STEP = SOAK ? 3 : 12
/** Below the first transactions of the recording. */
const START = 740
const HEIGHT = START + LOADERS * STEP
/** After this many killed loaders one completes, and readers see its height. */
const WHOLE_EVERY = 4
/** Documents per batch: a few blocks, so that a loader is killed between its batches. */
const DOCUMENTS = 10
/** Documents per partition: several partitions are opened during the load. */
const PARTITION = 2_000

/**
 * The kill comes at one of this many requests of a loader, which cover everything from the cleanup after the
 * previous loader to its last batches.
 */
const REQUESTS = 40

/** Reads wait for the next loader as long as it takes: on a busy machine it begins later than the store waits for it. */
const waitingFor = (store: Store): Store => ({
  ...store,
  read: async (work, how) => {
    for (;;)
      try {
        return await store.read(work, how)
      } catch (error) {
        if (!(error instanceof Failure) || error.help?.includes('start it again') !== true) throw error
      }
  },
})

describe.skipIf(elasticsearchUrl() === undefined)('loading into Elasticsearch', () => {
  test('readers see only whole, increasing heights while loaders are killed repeatedly', async () => {
    const seed = seedOf(23)
    const random = seeded(seed)
    const node = await replayed(HEIGHT)
    const [target, clean] = [
      openTestElastic({ partitionDocuments: PARTITION }),
      openTestElastic({ partitionDocuments: PARTITION }),
    ]
    try {
      await target.store.create()
      await loadFrom(node.url, target.store, { to: START })
      const watching = await witness(serviceOn(waitingFor(target.store)), { seed })
      let kills = 0
      for (let loader = 1; loader <= LOADERS; loader++) {
        const to = START + loader * STEP
        const place = ['elastic', target.url, target.prefix, String(PARTITION)]
        const after = [to, DOCUMENTS].map(String)
        const task = { program: 'load-process.ts', before: [node.url], place, after }
        if (await diesAt(1 + Math.floor(random() * REQUESTS), task)) kills++
        if (loader % WHOLE_EVERY !== 0) continue
        await loadFrom(node.url, target.store, { to })
        await watching.sees(200)
      }
      await loadFrom(node.url, target.store)
      await watching.sees(200)
      expect(watching.height()).toBe(HEIGHT)
      const seen = await watching.stop()
      expect([seed, seen.wrong, Object.keys(seen.statuses)]).toEqual([seed, [], ['200']])
      expect([seed, await secondOpinion(node.url, seen)]).toEqual([seed, []])
      await loadFrom(node.url, clean.store)
      const [dump, expected] = await Promise.all([target, clean].map(({ url, prefix }) => dumpElastic(url, prefix)))
      expect([seed, differences(dump ?? new Map(), expected ?? new Map())]).toEqual([seed, []])
      expect(kills).toBeGreaterThan(LOADERS / 3)
      expect(seen.answers.size).toBeGreaterThanOrEqual(LOADERS / WHOLE_EVERY)
      process.stderr.write(`${kills} loaders killed, ${seen.statuses[200]} answers at ${seen.answers.size} heights\n`)
    } finally {
      await node.stop()
      await Promise.all([target.destroy(), clean.destroy()])
    }
  })
})
