import { expect, test } from 'bun:test'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { batchOf, identity, publishedAt } from './fixture.ts'
import { failureOf, kindOf, type Open, withStore } from './harness.ts'

/** Exclusive access of one loader. */
export function takeOverCases(open: Open): void {
  test('takeOver: one loader at a time may write, and after release the next continues from the checkpoint', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const first = await store.takeOver(identity)
      expect(first.checkpoint).toBeUndefined()
      expect(await store.identity()).toEqual(identity)
      const other = await reopen()
      const refused = await failureOf(other.takeOver(identity))
      expect(refused.kind).toBe('conflict')
      expect(refused.message).toMatch(/another loader/i)
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
      await second.release()
    }))

  test('takeOver: another chain, genesis or derivation is refused, and no lock is left', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      await (await store.takeOver(identity)).release()
      const other = await reopen()
      for (const [wrong, named] of [
        [{ ...identity, chainId: 1024 }, '1024'],
        [{ ...identity, genesis: 'other-genesis' }, 'other-genesis'],
        [{ ...identity, derivation: identity.derivation + 1 }, String(identity.derivation + 1)],
      ] as const) {
        const refused = await failureOf(other.takeOver(wrong))
        expect(refused.kind).toBe('conflict')
        expect(refused.message).toContain(named)
      }
      expect(await store.identity()).toEqual(identity)
      await (await store.takeOver(identity)).release()
    }))

  test('close: the store is released for the next loader, and later calls are refused', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const writer = await store.takeOver(identity)
      await commitBatch(writer, batchOf(0, 0))
      const other = await reopen()
      await store.close()
      await store.close()
      expect(await kindOf(store.published())).toBe('unavailable')
      expect(await kindOf(store.read(async () => 1))).toBe('unavailable')
      const next = await other.takeOver(identity)
      expect(next.checkpoint).toEqual(publishedAt(0))
      await next.release()
    }))
}
