import { describe, expect, test } from 'bun:test'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { openMemoryState } from '#store/sqlite/state-file.ts'
import { batchOf, identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { kindOf } from '#test/store/suite/harness.ts'
import { type Asked, type Fate, openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
import { openTestState } from '#test/support/stores/test-state.ts'
import { until } from '#test/support/wait.ts'

/** Blocks 0 to 2 finish partition 0. Block 3 is in the next partition. */
const batches = [tellingBatch(0, 2), batchOf(3, 3, { filling: { partition: 1, documents: 1 } })]

/** A store behind a faulty proxy. `through` uses the proxy, `target.store` does not. */
const withProxy = async (body: (place: Awaited<ReturnType<typeof openPlace>>) => Promise<void>) => {
  const place = await openPlace()
  try {
    await body(place)
  } finally {
    await place.close()
  }
}

const openPlace = async () => {
  const target = openTestElastic()
  const faults: { fateOf: (asked: Asked) => Fate } = { fateOf: () => pass }
  const proxy = await openProxy(target.url, asked => faults.fateOf(asked))
  const clock = { sleep: () => Bun.sleep(1), random: () => 0 }
  const through = openElastic({
    url: proxy.url,
    prefix: target.prefix,
    openStateFile: of => openTestState(target.prefix, of),
    leaseMs: 300,
    clock,
  })
  await target.store.create()
  const close = async () => {
    await through.close()
    await proxy.close()
    await target.destroy()
  }
  return { target, faults, through, close }
}

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  test('takeOver: documents that a dead loader left in a partition it had not opened are removed', () =>
    withProxy(async ({ target, faults, through }) => {
      const dying = await through.takeOver(identity)
      const [first, second] = batches
      await commitBatch(dying, first ?? tellingBatch(0, 2))
      // Everything but the checkpoint is written.
      const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
      faults.fateOf = ({ path }) => (path.includes('/_doc/checkpoint') ? { type: 'hold', until: woken } : pass)
      const late = kindOf(commitBatch(dying, second ?? tellingBatch(3, 3)))
      const count = async () => {
        await fetch(`${target.url}/${target.prefix}-blocks-000001/_refresh`, { method: 'POST' })
        const answer = await fetch(`${target.url}/${target.prefix}-blocks-000001/_count`)
        return ((await answer.json()) as { count?: number }).count
      }
      await until(async () => (await count()) === 1)
      const next = await target.reopen({ openStateFile: openMemoryState }).takeOver(identity)
      expect(await count()).toBe(0)
      // The next loader's setting lets it fill the first partition further.
      await commitBatch(next, batchOf(3, 4, { filling: { partition: 0, documents: 11 } }))
      expect(next.partitions?.filling).toEqual({ partition: 0, documents: 11 })
      expect(await count()).toBe(0)
      wake()
      expect(await late).toBe('conflict')
      expect(await target.store.check()).toEqual([])
      await next.release()
    }))
})
