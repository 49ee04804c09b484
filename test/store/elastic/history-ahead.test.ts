import { describe, expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId, recordId } from '#indices/position.ts'
import { records } from '#indices/record.ts'
import { wealth } from '#indices/wealth.ts'
import type { Batch, Store } from '#store/port.ts'
import { batchOf, identity, publishedAt, recordDoc, tellingBatch, wealthDoc } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { commitBatch, historyOf, restOf } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

/**
 * The documents of this many blocks of a telling batch. `withStore` writes history ahead from this number on;
 * less is held in memory.
 */
const TWO_BLOCKS = 6
const THREE_BLOCKS = 9
const ANY_HISTORY = 1

async function withStore(body: (target: TestElastic) => Promise<void>, documents = TWO_BLOCKS): Promise<void> {
  const target = openTestElastic({ chunk: { documents, bytes: Number.POSITIVE_INFINITY } })
  try {
    await target.store.create()
    await body(target)
  } finally {
    await target.destroy()
  }
}

/** Heights of the blocks stored in Elasticsearch, visible to readers or not. */
async function standing({ ask }: TestElastic, index = 'blocks'): Promise<readonly number[]> {
  await ask('POST', `${index}/_refresh`)
  type Answer = { hits: { hits: { _source: { height: number } }[] } }
  const { hits } = await ask<Answer>('GET', `${index}/_search?size=1000`)
  return hits.hits.map(({ _source }) => _source.height).toSorted((a, b) => a - b)
}

const rowsOf = (store: Store, heights: readonly number[]) =>
  store.read(view =>
    view.getMany(
      records,
      heights.map(height => recordId(height, 1, 0)),
    ),
  )

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  test('append: history written ahead is stored invisibly, and is visible with its batch', () =>
    withStore(async target => {
      const writer = await target.store.takeOver(identity)
      await commitBatch(writer, tellingBatch(0, 1))
      const batch = tellingBatch(2, 6)
      await writer.append(historyOf(batch, 0, 3))
      await writer.append(historyOf(batch, 4, 5))
      expect(await standing(target)).toEqual([0, 1, 2, 3, 4, 5])
      expect(await target.store.published()).toEqual(publishedAt(1))
      expect(await rowsOf(target.store, [1, 2])).toEqual([expect.objectContaining({ height: 1 }), undefined])
      expect(await target.store.read(view => view.get(blocks, blockId(2)))).toBeUndefined()

      await commitBatch(writer, restOf(batch, 6))
      expect(await target.store.published()).toEqual(publishedAt(6))
      const rows = await rowsOf(target.store, [1, 2, 5, 6, 7])
      expect(rows.map(row => row?.height)).toEqual([1, 2, 5, 6, undefined])
      await writer.release()
    }))

  test('append: a whole batch may be written ahead, also while the previous one is being committed', () =>
    withStore(async target => {
      const writer = await target.store.takeOver(identity)
      const [first, second] = [tellingBatch(0, 2), tellingBatch(3, 5)]
      await writer.append(historyOf(first, 0, 1))
      const committing = commitBatch(writer, restOf(first, 2))
      await writer.append(historyOf(second, 0, 5))
      await committing
      expect(await target.store.published()).toEqual(publishedAt(2))
      await commitBatch(writer, restOf(second, 6))
      expect(await target.store.published()).toEqual(publishedAt(5))
      expect((await rowsOf(target.store, [0, 1, 2, 3, 4, 5])).map(row => row?.height)).toEqual([0, 1, 2, 3, 4, 5])
      await writer.release()
    }))

  test('append: a partition opened ahead is visible with its batch', () =>
    withStore(async target => {
      const writer = await target.store.takeOver(identity)
      await commitBatch(writer, tellingBatch(0, 2))
      const batch: Batch = { ...tellingBatch(3, 5), filling: { partition: 1, documents: 9 } }
      await writer.append(historyOf(batch, 0, 4))
      expect(await standing(target, 'blocks-000001')).toEqual([3, 4])
      expect(await target.store.partitions.firsts()).toEqual([0])
      await commitBatch(writer, restOf(batch, 5))
      expect(await target.store.partitions.firsts()).toEqual([0, 3])
      expect((await rowsOf(target.store, [2, 3, 5])).map(row => row?.height)).toEqual([2, 3, 5])
      await writer.release()
    }))

  test('append: history that a loader left ahead is removed for the next one, including a partition', () =>
    withStore(async target => {
      for (const partition of [0, 1]) {
        const writer = await target.store.takeOver(identity)
        if (writer.checkpoint === undefined) await commitBatch(writer, tellingBatch(0, 2))
        await writer.append({ ...tellingBatch(3, 5), filling: { partition, documents: 9 } })
        await writer.release()
        const next = await target.store.takeOver(identity)
        expect(next.checkpoint).toEqual(publishedAt(2))
        expect(await standing(target)).toEqual([0, 1, 2])
        await next.release()
      }
      const last = await target.store.takeOver(identity)
      await commitBatch(last, tellingBatch(3, 4))
      expect((await rowsOf(target.store, [3, 4, 5])).map(row => row?.height)).toEqual([3, 4, undefined])
      await last.release()
    }))

  test('append: a gap, stored blocks, and another partition than the batch’s are refused', () =>
    withStore(async target => {
      const writer = await target.store.takeOver(identity)
      await commitBatch(writer, batchOf(0, 2))
      await writer.append(batchOf(3, 4))
      const refused = async (batch: Batch, problem: string) => {
        const { kind, message } = await failureOf(writer.append(batch))
        expect([kind, message]).toEqual(['defect', problem])
      }
      const from5 = 'History of blocks from 5 on: '
      await refused(batchOf(6, 6), `${from5}block 6 is at the position of block 5.`)
      await refused(batchOf(4, 5), `${from5}block 4 is at the position of block 5.`)
      await refused(
        batchOf(5, 5, { records: [recordDoc(4, 0)] }),
        `${from5}document ${recordId(4, 1, 0)} is of block 4.`,
      )
      await refused(
        batchOf(5, 5, { filling: { partition: 1, documents: 1 } }),
        'History of block 5 belongs to another partition than its batch.',
      )
      // A batch that lacks a block in the middle, or that is for another partition.
      const missing = await failureOf(commitBatch(writer, { ...batchOf(3, 6), blocks: batchOf(6, 6).blocks }))
      expect(missing.kind).toBe('defect')
      expect(await target.store.published()).toEqual(publishedAt(2))
      await writer.release()
    }, ANY_HISTORY))

  test('append: history ahead of a failed batch does not go into a later one', () =>
    withStore(async target => {
      const writer = await target.store.takeOver(identity)
      await commitBatch(writer, tellingBatch(0, 1))
      // The last row cannot be stored.
      const broken = batchOf(2, 3, { records: [{ ...recordDoc(3, 0), time: 2n ** 63n }] })
      const [failed, next] = [commitBatch(writer, broken), tellingBatch(4, 7)]
      const ahead = writer.append(historyOf(next, 0, 6))
      expect((await failureOf(failed)).kind).toBe('defect')
      await ahead
      expect((await failureOf(commitBatch(writer, restOf(next, 7)))).kind).toBe('unavailable')
      await commitBatch(writer, tellingBatch(2, 3))
      expect(await target.store.published()).toEqual(publishedAt(3))
      expect(await standing(target)).toEqual([0, 1, 2, 3])
      const late = await failureOf(commitBatch(writer, restOf(next, 7)))
      expect(late.kind).toBe('defect')
      await commitBatch(writer, {
        ...next,
        changes: [{ index: wealth, doc: wealthDoc('a', 7n), before: wealthDoc('a', 4n) }],
      })
      expect(await target.store.published()).toEqual(publishedAt(7))
      expect((await rowsOf(target.store, [3, 4, 5, 6, 7])).map(row => row?.height)).toEqual([3, 4, 5, 6, 7])
      await writer.release()
    }, THREE_BLOCKS))
})
