import { expect, test } from 'bun:test'
import { wealth } from '#indices/wealth.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { batchOf, identity } from './fixture.ts'
import { failureOf, kindOf, type Open, withStore } from './harness.ts'

/** A store before, during and after its creation. */
export function createCases(open: Open): void {
  test('a store that was never created is empty, refuses work, and is not created by reads', () =>
    withStore(open, async ({ store }) => {
      expect(await store.published()).toBeUndefined()
      expect(await store.identity()).toBeUndefined()
      expect(await store.keys.list()).toEqual([])
      expect(await kindOf(store.read(async () => 1))).toBe('unavailable')
      const refused = await failureOf(store.takeOver(identity))
      expect(refused.kind).toBe('conflict')
      expect(refused.help).toContain('iostlens indices create')
      const missing = await store.check()
      expect(missing.map(({ name }) => name)).toContain('series')
      expect(new Set(missing.map(({ problem }) => problem))).toEqual(new Set(['missing']))
    }))

  test('create: everything is created, may be repeated, and publishes nothing', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      expect(await store.check()).toEqual([])
      expect(await store.published()).toBeUndefined()
      expect(await store.identity()).toBeUndefined()
      expect(await kindOf(store.read(async () => 1))).toBe('unavailable')
      await store.create()
      const other = await reopen()
      await other.create()
      expect(await other.check()).toEqual([])
    }))

  test('create: stored documents stay when it is repeated after a load', () =>
    withStore(open, async ({ store }) => {
      await store.create()
      const writer = await store.takeOver(identity)
      await commitBatch(writer, batchOf(0, 2))
      await store.create()
      expect((await store.published())?.height).toBe(2)
      expect(await store.read(view => view.page(wealth, 'richest', { offset: 0, limit: 5 }))).toEqual([])
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
