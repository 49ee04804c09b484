import { expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId, recordId } from '#indices/position.ts'
import { records } from '#indices/record.ts'
import { wealth } from '#indices/wealth.ts'
import type { Batch } from '#store/port.ts'
import type { ProofRecord } from '#store/published.ts'
import { commitBatch, historyOf } from '#test/support/stores/commit-batch.ts'
import { batchOf, identity, publishedAt, recordDoc, tellingBatch, wealthDoc } from './fixture.ts'
import { failureOf, type Open, withStore } from './harness.ts'

/** Batches are atomic, in order, and repeatable. */
export function commitCases(open: Open): void {
  test('commit: a batch that does not begin right after the checkpoint is refused as a whole', () =>
    withStore(open, async ({ store }) => {
      await store.create()
      const writer = await store.takeOver(identity)
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

  test('append: history appended in parts is visible with its batch, also if appended while the previous batch is committed', () =>
    withStore(open, async ({ store }) => {
      await store.create()
      const writer = await store.takeOver(identity)
      const [first, second] = [tellingBatch(0, 1), tellingBatch(2, 6)]
      const committing = commitBatch(writer, first)
      for (const [from, to] of [
        [2, 3],
        [4, 4],
        [5, 6],
      ] as const)
        await writer.append(historyOf(second, from, to))
      await committing
      expect(await store.published()).toEqual(publishedAt(1))
      expect(await store.read(view => view.get(blocks, blockId(2)))).toBeUndefined()
      await writer.commit({ end: second.end, changes: second.changes })
      expect(await store.published()).toEqual(publishedAt(6))
      const rows = await store.read(view =>
        view.getMany(
          records,
          [0, 1, 2, 3, 4, 5, 6, 7].map(height => recordId(height, 1, 0)),
        ),
      )
      expect(rows.map(row => row?.height)).toEqual([0, 1, 2, 3, 4, 5, 6, undefined])
      await writer.release()
    }))

  test('append: a batch with a gap, in two partitions, or without history is refused, and the next one is complete', () =>
    withStore(open, async ({ store }) => {
      await store.create()
      const writer = await store.takeOver(identity)
      await commitBatch(writer, tellingBatch(0, 1))
      const { end, changes, ...history } = tellingBatch(2, 4)
      const refused = async (work: () => Promise<unknown>) => {
        expect((await failureOf(work())).kind).toBe('defect')
        expect(await store.published()).toEqual(publishedAt(1))
      }
      await refused(() => writer.commit({ end, changes }))
      await writer.append(historyOf(history, 2, 2))
      await writer.append(historyOf(history, 4, 4))
      await refused(() => writer.commit({ end, changes }))
      await writer.append(historyOf(history, 2, 2))
      const elsewhere = { ...historyOf(history, 3, 4), filling: { partition: 1, documents: 6 } }
      await refused(() => writer.append(elsewhere))
      // History that was appended before the refusal belongs to no batch.
      await refused(() => writer.commit({ end, changes }))
      await commitBatch(writer, tellingBatch(2, 4))
      expect(await store.published()).toEqual(publishedAt(4))
      await writer.release()
    }))

  test('commit: no part of a failed batch is visible, and the same blocks can be committed again', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const writer = await store.takeOver(identity)
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
      await next.release()
    }))

  test('commit: the last version of a document replaces it completely, including optional fields', () =>
    withStore(open, async ({ store }) => {
      await store.create()
      const writer = await store.takeOver(identity)
      await commitBatch(writer, batchOf(0, 0, { changes: [{ index: wealth, doc: wealthDoc('a', 5n) }] }))
      await commitBatch(writer, batchOf(1, 1))
      await commitBatch(
        writer,
        batchOf(2, 3, { changes: [{ index: wealth, doc: wealthDoc('a', 0n), before: wealthDoc('a', 5n) }] }),
      )
      expect((await writer.openState()).get(wealth, 'a')).toEqual(wealthDoc('a', 0n))
      expect(await store.read(view => view.get(wealth, 'a'))).toEqual(wealthDoc('a', 0n))
      await writer.release()
    }))

  test('commit: the record of proofs is stored with the height, also for the next loader; a batch without one has none', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const writer = await store.takeOver(identity)
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
      await next.release()
    }))
}
