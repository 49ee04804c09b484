import { describe, expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId, recordId } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { wealth } from '#indices/wealth.ts'
import { checkBatch } from '#store/batch.ts'
import type { Batch, Store, Writer } from '#store/port.ts'
import {
  batchOf,
  blockDoc,
  identity,
  publishedAt,
  recordDoc,
  tellingBatch,
  wealthDoc,
} from '#test/store/suite/fixture.ts'
import { kindOf } from '#test/support/refusal.ts'
import { commitBatch, historyOf, restOf } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

/**
 * The documents of this many blocks of a telling batch. `withWriter` writes history ahead from this number on;
 * less is held in memory.
 */
const TWO_BLOCKS = 6
const THREE_BLOCKS = 9

async function withWriter(
  body: (target: TestElastic, writer: Writer) => Promise<void>,
  documents = TWO_BLOCKS,
): Promise<void> {
  await using target = openTestElastic({ chunk: { documents, bytes: Number.POSITIVE_INFINITY } })
  await target.store.create()
  await body(target, await target.store.takeOver(identity))
}

/** Heights of the blocks stored in Elasticsearch, visible to readers or not. */
async function standing({ ask }: TestElastic, index = 'blocks'): Promise<readonly number[]> {
  await ask('POST', `${index}/_refresh`)
  type Answer = { hits: { hits: { _source: { height: number } }[] } }
  const { hits } = await ask<Answer>('GET', `${index}/_search?size=1000`)
  return hits.hits.map(({ _source }) => _source.height).toSorted((a, b) => a - b)
}

const readRows = async (store: Store, ...heights: readonly number[]) => {
  const ids = heights.map(height => recordId(height, 1, 0))
  return (await store.read(view => view.getMany(records, ids))).map(row => row?.height)
}

const { lib: _, ...ahead } = publishedAt(4)
const rest = { ...batchOf(3, 6), blocks: [blockDoc(5), blockDoc(6)] }

test.each([
  ['a hole after', { ...rest, blocks: [blockDoc(6)] }, ahead],
  ['a row of', { ...rest, records: [recordDoc(4, 0)] }, ahead],
  ['another end of', { ...batchOf(3, 4), blocks: [] }, { ...ahead, hash: 'x' }],
])('append: %s what is stored ahead is refused', (...[, batch, before]) =>
  expect(() => checkBatch(batch, publishedAt(2), before)).toThrow('Batch of blocks 3 to'),
)

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  test('append: history written ahead is stored invisibly, and is visible with its batch, also in a new partition', () =>
    withWriter(async (target, writer) => {
      await commitBatch(writer, tellingBatch(0, 1))
      const batch = tellingBatch(2, 6)
      await writer.append(historyOf(batch, 0, 3))
      await writer.append(historyOf(batch, 4, 5))
      expect(await standing(target)).toEqual([0, 1, 2, 3, 4, 5])
      expect(await target.store.published()).toEqual(publishedAt(1))
      expect(await readRows(target.store, 1, 2)).toEqual([1, undefined])
      expect(await target.store.read(view => view.get(blocks, blockId(2)))).toBeUndefined()

      await commitBatch(writer, restOf(batch, 6))
      expect(await target.store.published()).toEqual(publishedAt(6))
      expect(await readRows(target.store, 1, 2, 5, 6, 7)).toEqual([1, 2, 5, 6, undefined])

      const next: Batch = { ...tellingBatch(7, 9), filling: { partition: 1, documents: 9 } }
      await writer.append(historyOf(next, 0, 8))
      expect(await standing(target, 'blocks-000001')).toEqual([7, 8])
      expect(await target.store.partitions.firsts()).toEqual([0])
      await commitBatch(writer, restOf(next, 9))
      expect(await target.store.partitions.firsts()).toEqual([0, 7])
      expect(await readRows(target.store, 6, 7, 9)).toEqual([6, 7, 9])
    }))

  test('append: history that a loader left ahead is removed for the next one, including a partition', () =>
    withWriter(async (target, first) => {
      await commitBatch(first, tellingBatch(0, 2))
      await first.release()
      for (const partition of [0, 1]) {
        const writer = await target.store.takeOver(identity)
        await writer.append({ ...tellingBatch(3, 5), filling: { partition, documents: 9 } })
        await writer.release()
        const next = await target.store.takeOver(identity)
        expect(next.checkpoint).toEqual(publishedAt(2))
        expect(await standing(target)).toEqual([0, 1, 2])
        await next.release()
      }
      const last = await target.store.takeOver(identity)
      await commitBatch(last, tellingBatch(3, 4))
      expect(await readRows(target.store, 3, 4, 5)).toEqual([3, 4, undefined])
    }))

  test('append: history ahead of a failed batch does not go into a later one', () =>
    withWriter(async (target, writer) => {
      await commitBatch(writer, tellingBatch(0, 1))
      // The last row cannot be stored.
      const broken = batchOf(2, 3, { records: [{ ...recordDoc(3, 0), time: 2n ** 63n }] })
      const [failed, next] = [commitBatch(writer, broken), tellingBatch(4, 7)]
      const ahead = writer.append(historyOf(next, 0, 6))
      expect(await kindOf(failed)).toBe('defect')
      await ahead
      expect(await kindOf(commitBatch(writer, restOf(next, 7)))).toBe('unavailable')
      await commitBatch(writer, tellingBatch(2, 3))
      expect(await target.store.published()).toEqual(publishedAt(3))
      expect(await standing(target)).toEqual([0, 1, 2, 3])
      expect(await kindOf(commitBatch(writer, restOf(next, 7)))).toBe('defect')
      await commitBatch(writer, {
        ...next,
        changes: [{ index: wealth, doc: wealthDoc('a', 7n), before: wealthDoc('a', 4n) }],
      })
      expect(await target.store.published()).toEqual(publishedAt(7))
      expect(await readRows(target.store, 3, 4, 5, 6, 7)).toEqual([3, 4, 5, 6, 7])
    }, THREE_BLOCKS))

  test('append: nothing is written to a partition after one that a failed batch should have opened', () =>
    withWriter(async (target, writer) => {
      await commitBatch(writer, tellingBatch(0, 1))
      const records = [{ ...recordDoc(3, 0), time: 2n ** 63n }]
      const broken = batchOf(2, 3, { records, filling: { partition: 1, documents: 3 } })
      const failed = commitBatch(writer, broken)
      const ahead = writer.append({ ...tellingBatch(4, 7), filling: { partition: 2, documents: 12 } })
      const settled = await Promise.allSettled([failed, ahead])
      expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(Object.keys(await target.ask<object>('GET', 'blocks*'))).not.toContain(`${target.prefix}-blocks-000002`)
    }))
})
