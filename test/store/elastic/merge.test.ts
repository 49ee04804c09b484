import { describe, expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { ElasticStore } from '#store/elastic/open-elastic.ts'
import { batchOf, blockDoc, identity, publishedAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf, kindOf } from '#test/store/suite/harness.ts'
import { type Asked, pass } from '#test/support/nodes/faulty-proxy.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { type BehindProxy, elasticsearchUrl, openBehindProxy } from '#test/support/stores/elasticsearch.ts'
import { openOtherState } from '#test/support/stores/test-state.ts'
import { until } from '#test/support/wait.ts'

/** Blocks 0 to 2 finish partition 0. Block 3 is in the next partition. */
const batches = [tellingBatch(0, 2), batchOf(3, 3, { filling: { partition: 1, documents: 1 } })]

/** A store behind a faulty proxy. `through` uses the proxy, `target.store` does not. */
async function withProxy(body: (place: BehindProxy) => Promise<void>): Promise<void> {
  await using place = await openBehindProxy({ leaseMs: 300, clock: { sleep: () => Bun.sleep(1), random: () => 0 } })
  await body(place)
}

async function merged(store: ElasticStore): Promise<readonly string[]> {
  const told: string[] = []
  const { signal } = new AbortController()
  await store.partitions.merge({ signal, onProgress: ({ state }) => told.push(state) })
  return told
}
const MERGED = ['merging', 'merged', 'merging', 'merged', 'merging', 'merged']
const SKIPPED = ['skipped', 'skipped', 'skipped']

const isMerge = ({ path }: Asked): boolean => path.includes('_forcemerge')

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  test('merge: requests with lost answers are repeated, and a failed merge is reported and repaired by the next', () =>
    withProxy(async ({ target, faults, through }) => {
      const writer = await target.store.takeOver(identity)
      for (const batch of batches) await commitBatch(writer, batch)
      faults.fateOf = asked =>
        isMerge(asked)
          ? {
              type: 'change',
              to: () => ({ status: 200, body: '{"_shards":{"total":1,"successful":0,"failed":1}}' }),
            }
          : pass
      const failed = await failureOf(merged(through))
      expect([failed.kind, failed.retryable]).toEqual(['unavailable', true])
      expect(failed.message).toContain(`${target.prefix}-blocks-000000`)
      let lost = 0
      faults.fateOf = asked => (isMerge(asked) && lost++ === 0 ? { type: 'cut-after' } : pass)
      // The first partition was merged although the answer was lost.
      expect(await merged(through)).toEqual(['skipped', ...MERGED.slice(2)])
      expect(lost).toBe(3)
      expect(await merged(through)).toEqual(SKIPPED)
      await commitBatch(writer, batchOf(4, 4, { filling: { partition: 1, documents: 2 } }))
      expect(await target.store.published()).toEqual(publishedAt(4))
    }))

  test('merge: an abort ends the wait', () =>
    withProxy(async ({ target, faults, through }) => {
      const writer = await target.store.takeOver(identity)
      for (const batch of batches) await commitBatch(writer, batch)
      const stop = new AbortController()
      faults.fateOf = asked => {
        if (!isMerge(asked)) return pass
        stop.abort()
        return { type: 'hold', until: Promise.withResolvers().promise }
      }
      expect(await kindOf(through.partitions.merge({ signal: stop.signal, onProgress: () => {} }))).toBe('deadline')
    }))

  test('merge: a replaced loader gets a conflict and is not held up by read-only indices', () =>
    withProxy(async ({ target, faults, through }) => {
      const silent = await through.takeOver(identity)
      const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
      const { promise: asleep, resolve: sleeping } = Promise.withResolvers<void>()
      faults.fateOf = () => {
        sleeping()
        return { type: 'hold', until: woken }
      }
      const [first, second] = batches
      const late = kindOf(commitBatch(silent, first ?? tellingBatch(0, 2)))
      await asleep
      const next = await target.reopen({ openStateFile: openOtherState }).takeOver(identity)
      for (const batch of batches) await commitBatch(next, batch)
      expect(await merged(target.store)).toEqual(MERGED)
      wake()
      expect(await late).toBe('conflict')
      expect(await target.store.published()).toEqual(publishedAt(second?.end.height ?? 0))
      const stored = await target.store.read(view =>
        view.getMany(
          blocks,
          [0, 1, 2, 3].map(height => blockId(height)),
        ),
      )
      expect<unknown>(stored).toEqual([0, 1, 2, 3].map(height => blockDoc(height)))
      await next.release()
    }))

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
      const next = await target.reopen({ openStateFile: openOtherState }).takeOver(identity)
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
