import { expect, test } from 'bun:test'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { batchOf, identity, publishedAt } from './fixture.ts'
import { type Open, withStore, withWriter } from './harness.ts'

/** A store before, during and after its creation. */
export function createCases(open: Open): void {
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
}

/** Exclusive access of one loader. */
export function takeOverCases(open: Open): void {
  test('takeOver: one loader at a time may write, and after release the next continues from the checkpoint', () =>
    withWriter(open, async ({ store, reopen, writer: first }) => {
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
        const refused = await failureOf(other.takeOver(wrong))
        expect([refused.kind, refused.message]).toEqual(['conflict', expect.stringContaining(named)])
      }
      expect(await store.identity()).toEqual(identity)
      await commitBatch(await store.takeOver(identity), batchOf(0, 0))
      await store.close()
      await store.close()
      expect(await kindOf(store.published())).toBe('unavailable')
      expect(await kindOf(store.read(async () => 1))).toBe('unavailable')
      expect((await other.takeOver(identity)).checkpoint).toEqual(publishedAt(0))
    }))
}
