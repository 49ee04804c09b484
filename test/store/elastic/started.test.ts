import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type IndexShape, metaShape, stateShapes } from '#store/elastic/schema/mappings.ts'
import { identity } from '#test/store/suite/fixture.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

/** An index that another process has just created. Its shard does not start until the returned function is called. */
async function createUnstarted({ url, prefix }: TestElastic, name: string, shape: IndexShape) {
  const alias = `${prefix}-${name}`
  const index = `${url}/${alias}-0`
  await ask('PUT', `${index}?wait_for_active_shards=0`, {
    settings: { index: { ...shape.settings.index, 'routing.allocation.enable': 'none' } },
    mappings: shape.mappings,
    aliases: { [alias]: {} },
  })
  return () => ask('PUT', `${index}/_settings`, { 'index.routing.allocation.enable': null })
}

/** The pause between two attempts. */
const WAIT_MS = 50
/** After this many failed attempts the work can only be waiting for a shard. */
const TRIES = 3

/** Elapsed time is always 0, so retries never time out. The clock counts the pauses between attempts. */
function countedClock() {
  let waits = 0
  let onWait: () => void = () => {}
  return {
    clock: {
      now: () => 0,
      elapsed: () => 0,
      sleep: async (ms: number) => {
        if (ms === WAIT_MS) {
          waits += 1
          onWait()
        }
        await Bun.sleep(ms)
      },
    },
    isWaiting: async (work: Promise<unknown>): Promise<boolean> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const until = waits + TRIES
      onWait = () => {
        if (waits >= until) resolve()
      }
      return await Promise.race([work.then(() => false), promise.then(() => true)])
    },
  }
}

describe.skipIf(elasticsearchUrl() === undefined)('indices with a shard that has not started', () => {
  const { clock, isWaiting } = countedClock()
  let target: TestElastic
  beforeAll(() => {
    target = openTestElastic({ clock })
  })
  afterAll(() => target.destroy())

  test('create waits for the checkpoint and for indices that must be empty', async () => {
    const startMeta = await createUnstarted(target, 'meta', metaShape)
    const startState = await createUnstarted(target, 'state', stateShapes.state)
    const created = target.store.create()
    expect(await isWaiting(created)).toBe(true)
    await startMeta()
    expect(await isWaiting(created)).toBe(true)
    await startState()
    await created
    expect(await target.store.check()).toEqual([])
    const writer = await target.store.takeOver(identity)
    expect(writer.checkpoint).toBeUndefined()
    await writer.release()
  })
})
