import { expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId, recordId } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import { wealth } from '#indices/wealth.ts'
import type { Batch } from '#store/port.ts'
import type { ProofRecord } from '#store/published.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { commitBatch, historyOf } from '#test/support/stores/commit-batch.ts'
import {
  batchOf,
  blockDoc,
  identity,
  publishedAt,
  recordDoc,
  tellingBatch,
  transactionDoc,
  wealthDoc,
} from './fixture.ts'
import { type Open, withStore, withWriter } from './harness.ts'

/** A store before, during and after its creation. Loaders one at a time, and batches: atomic, in order, and repeatable. */
export function writingCases(open: Open): void {
  test('a store that was never created is empty, refuses work, and is not created by reads; create may be repeated and publishes nothing', () =>
    withStore(open, async ({ store, reopen }) => {
      expect(await store.published()).toBeUndefined()
      expect(await store.identity()).toBeUndefined()
      expect(await kindOf(store.read(async () => 1))).toBe('unavailable')
      const refused = await failureOf(store.takeOver(identity))
      expect([refused.kind, refused.help]).toEqual(['conflict', expect.stringContaining('iostlens indices create')])
      const missing = await store.check()
      expect(missing.map(({ name }) => name)).toContain('series')
      expect(new Set(missing.map(({ problem }) => problem))).toEqual(new Set(['missing']))

      await store.create()
      expect(await store.check()).toEqual([])
      expect(await store.published()).toBeUndefined()
      expect(await store.identity()).toBeUndefined()
      expect(await kindOf(store.read(async () => 1))).toBe('unavailable')
      const other = await reopen()
      await other.create()
      expect(await other.check()).toEqual([])
      await commitBatch(await store.takeOver(identity), batchOf(0, 2))
      await store.create()
      expect((await store.published())?.height).toBe(2)
    }))

  test('create, takeOver: another mapping is refused with the command that helps', () =>
    withStore(open, async ({ store, reopen, spoil }) => {
      await store.create()
      await spoil()
      const other = await reopen()
      const differences = await other.check()
      expect(differences.map(({ problem }) => problem)).toEqual(['different'])
      expect(differences[0]?.detail).not.toContain('\n')
      for (const call of [() => other.create(), () => other.takeOver(identity)]) {
        const refused = await failureOf(call())
        expect(refused.kind).toBe('conflict')
        expect(refused.message).toContain(differences[0]?.name ?? 'a name')
        expect(refused.help).toMatch(/iostlens indices (check|create)/)
      }
      expect(await other.check()).toEqual(differences)
    }))

  test('takeOver: one loader at a time may write, and after release the next continues from the checkpoint', () =>
    withWriter(open, async ({ store, reopen, writer: first }) => {
      expect(first.checkpoint).toBeUndefined()
      expect(await store.identity()).toEqual(identity)
      const other = await reopen()
      const refused = { kind: 'conflict', message: expect.stringMatching(/another loader/i) }
      expect(await failureOf(other.takeOver(identity))).toMatchObject(refused)
      expect(await kindOf(store.takeOver(identity))).toBe('conflict')

      await commitBatch(first, batchOf(0, 4))
      expect(first.checkpoint).toEqual(publishedAt(4))
      await first.release()
      await first.release()
      const second = await other.takeOver(identity)
      expect(second.checkpoint).toEqual(publishedAt(4))
      await commitBatch(second, batchOf(5, 5))
      expect(await kindOf(commitBatch(first, batchOf(5, 5)))).toBe('conflict')
      expect(await store.published()).toEqual(publishedAt(5))
    }))

  test('takeOver: another chain, genesis or derivation is refused, and no lock is left; close releases the store, and later calls are refused', () =>
    withWriter(open, async ({ store, reopen, writer }) => {
      await writer.release()
      const other = await reopen()
      for (const [wrong, named] of [
        [{ ...identity, chainId: 1024 }, '1024'],
        [{ ...identity, genesis: 'other-genesis' }, 'other-genesis'],
        [{ ...identity, derivation: identity.derivation + 1 }, String(identity.derivation + 1)],
      ] as const) {
        const refused = { kind: 'conflict', message: expect.stringContaining(named) }
        expect(await failureOf(other.takeOver(wrong))).toMatchObject(refused)
      }
      expect(await store.identity()).toEqual(identity)
      await commitBatch(await store.takeOver(identity), batchOf(0, 0))
      await store.close()
      await store.close()
      expect(await kindOf(store.published())).toBe('unavailable')
      expect(await kindOf(store.read(async () => 1))).toBe('unavailable')
      expect((await other.takeOver(identity)).checkpoint).toEqual(publishedAt(0))
    }))

  test('commit: a batch that does not begin right after the checkpoint is refused as a whole', () =>
    withWriter(open, async ({ store, writer }) => {
      const refuse = async (batch: Batch) =>
        expect(['conflict', 'defect']).toContain(await kindOf(commitBatch(writer, batch)))
      await refuse(batchOf(1, 2))
      expect(await store.published()).toBeUndefined()
      await commitBatch(writer, tellingBatch(0, 3))
      await refuse(tellingBatch(0, 3))
      await refuse(tellingBatch(3, 4))
      await refuse(tellingBatch(5, 6))
      // A missing block, another end, wrong order, history of other blocks, and two changes of one document.
      await refuse({ ...batchOf(4, 6), blocks: batchOf(4, 5).blocks })
      await refuse({ ...batchOf(4, 5), end: publishedAt(6) })
      await refuse(batchOf(4, 5, { blocks: [blockDoc(5), blockDoc(4)] }))
      for (const over of [{ hash: 'x' }, { time: 1n }]) await refuse(batchOf(4, 4, { blocks: [blockDoc(4, over)] }))
      await refuse(batchOf(4, 4, { transactions: [transactionDoc(3, 1)] }))
      await refuse(batchOf(4, 4, { records: [recordDoc(5, 1)] }))
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
        expect(await kindOf(work())).toBe('defect')
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
      expect(await kindOf(commitBatch(writer, { ...broken, changes: [...broken.changes, tooMuch] }))).toBe('defect')
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
