import { expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId, recordId } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { wealth } from '#indices/wealth.ts'
import type { Batch } from '#store/port.ts'
import type { ProofRecord } from '#store/published.ts'
import { failureOf } from '#test/support/refusal.ts'
import { commitBatch, historyOf } from '#test/support/stores/commit-batch.ts'
import { batchOf, identity, publishedAt, recordDoc, tellingBatch, wealthDoc } from './fixture.ts'
import { type Open, withWriter } from './harness.ts'

/** Batches are atomic, in order, and repeatable. */
export function commitCases(open: Open): void {
  test('commit: a batch that does not begin right after the checkpoint is refused as a whole', () =>
    withWriter(open, async ({ store, writer }) => {
      const refuse = async (batch: Batch) => {
        const refused = await failureOf(commitBatch(writer, batch))
        expect(['conflict', 'defect']).toContain(refused.kind)
      }
      await refuse(batchOf(1, 2))
      expect(await store.published()).toBeUndefined()
      await commitBatch(writer, tellingBatch(0, 3))
      await refuse(tellingBatch(0, 3))
      await refuse(tellingBatch(3, 4))
      await refuse(tellingBatch(5, 6))
      // A missing block, an end that is not the last block, and two changes of one document.
      await refuse({ ...batchOf(4, 6), blocks: batchOf(4, 5).blocks })
      await refuse({ ...batchOf(4, 5), end: publishedAt(6) })
      const twice = [1n, 2n].map(total => ({ index: wealth, doc: wealthDoc('twice', total) }))
      await refuse(batchOf(4, 4, { changes: twice }))
      expect(await store.published()).toEqual(publishedAt(3))
      await commitBatch(writer, tellingBatch(4, 4))
      const found = await store.read(view => view.getMany(blocks, [4, 5, 6].map(blockId)))
      expect(found.map(block => block?.height)).toEqual([4, undefined, undefined])
      expect(await store.read(view => view.get(wealth, 'twice'))).toBeUndefined()
    }))

  test('append: history appended in parts is visible with its batch; one with a gap, in two partitions, or without history is refused', () =>
    withWriter(open, async ({ store, writer }) => {
      const [first, second] = [tellingBatch(0, 1), tellingBatch(2, 6)]
      const committing = commitBatch(writer, first)
      await writer.append(historyOf(second, 2, 4))
      await writer.append(historyOf(second, 5, 6))
      await committing
      expect(await store.published()).toEqual(publishedAt(1))
      expect(await store.read(view => view.get(blocks, blockId(2)))).toBeUndefined()
      await writer.commit({ end: second.end, changes: second.changes })
      expect(await store.published()).toEqual(publishedAt(6))
      const ids = [0, 1, 2, 3, 4, 5, 6, 7].map(height => recordId(height, 1, 0))
      const rows = await store.read(view => view.getMany(records, ids))
      expect(rows.map(row => row?.height)).toEqual([0, 1, 2, 3, 4, 5, 6, undefined])

      const { end, changes, ...history } = tellingBatch(7, 9)
      const refused = async (work: () => Promise<unknown>) => {
        expect((await failureOf(work())).kind).toBe('defect')
        expect(await store.published()).toEqual(publishedAt(6))
      }
      await refused(() => writer.commit({ end, changes }))
      await writer.append(historyOf(history, 7, 7))
      await writer.append(historyOf(history, 9, 9))
      await refused(() => writer.commit({ end, changes }))
      await writer.append(historyOf(history, 7, 7))
      const elsewhere = { ...historyOf(history, 8, 9), filling: { partition: 1, documents: 6 } }
      await refused(() => writer.append(elsewhere))
      // History that was appended before the refusal belongs to no batch.
      await refused(() => writer.commit({ end, changes }))
      await commitBatch(writer, tellingBatch(7, 9))
      expect(await store.published()).toEqual(publishedAt(9))
    }))

  test('commit: no part of a failed batch is visible, and the same blocks can be committed again', () =>
    withWriter(open, async ({ store, reopen, writer }) => {
      await commitBatch(writer, tellingBatch(0, 3))
      // The last document cannot be stored: an amount beyond int64.
      const broken = tellingBatch(4, 6)
      const tooMuch = { index: wealth, doc: wealthDoc('broken', 2n ** 63n) }
      const refused = await failureOf(commitBatch(writer, { ...broken, changes: [...broken.changes, tooMuch] }))
      expect(refused.kind).toBe('defect')
      expect(await store.published()).toEqual(publishedAt(3))
      expect(await store.read(view => view.get(wealth, 'a'))).toEqual(wealthDoc('a', 4n))
      expect(await store.read(view => view.get(records, recordId(4, 1, 0)))).toBeUndefined()
      await writer.release()

      const next = await (await reopen()).takeOver(identity)
      expect(next.checkpoint).toEqual(publishedAt(3))
      await commitBatch(next, tellingBatch(4, 7))
      expect(await store.published()).toEqual(publishedAt(7))
      const row = await store.read(view => view.get(records, recordId(6, 1, 0)))
      expect(row).toEqual(recordDoc(6, 0, { places: [2n ** 32n + 7n] }))
    }))

  test('commit: the record of proofs is stored with the height, also for the next loader; a batch without one has none', () =>
    withWriter(open, async ({ store, reopen, writer }) => {
      await commitBatch(writer, batchOf(0, 1))
      expect((await store.published())?.proved).toBeUndefined()
      const proved: ProofRecord = {
        ranges: [
          { from: 2, to: 2, level: 'signed' },
          { from: 3, to: 3, level: 'whole', agreed: true },
        ],
        lost: 7,
        formerKeys: [{ key: 'old key', until: 2_400 }],
      }
      const batch = batchOf(2, 3)
      await commitBatch(writer, { ...batch, end: { ...batch.end, proved } })
      expect(await store.published()).toEqual({ ...publishedAt(3), proved })
      expect(await store.read(async ({ at }) => at.proved)).toEqual(proved)
      expect(writer.checkpoint?.proved).toEqual(proved)
      await writer.release()
      const next = await (await reopen()).takeOver(identity)
      expect(next.checkpoint).toEqual({ ...publishedAt(3), proved })
    }))
}
