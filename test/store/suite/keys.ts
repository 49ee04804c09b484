import { expect, test } from 'bun:test'
import type { StoredKey } from '#store/port.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { batchOf, identity } from './fixture.ts'
import { failureOf, kindOf, type Open, withStore } from './harness.ts'

const key = (id: string, over: Partial<StoredKey> = {}): StoredKey => ({
  id,
  hash: `hash of ${id}`,
  name: `name of ${id}`,
  perSecond: 10,
  perDay: 1_000_000,
  created: 1_767_225_600_000,
  ...over,
})

/** API keys, independent of the loaded blocks. */
export const keyCases = (open: Open): void => {
  test('keys: they are listed by creation time and id, and visible at once in other handles', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const other = await reopen()
      expect(await store.keys.list()).toEqual([])
      const late = key('a', { created: 1_767_225_600_001, expires: 2_000_000_000_000, name: 'é\u0000😀 "x"' })
      const early = [key('__proto__'), key('b'), key('c')]
      for (const each of [late, ...early.toReversed()]) await store.keys.add(each)
      expect(await other.keys.list()).toEqual([...early, late])
    }))

  test('keys: an id is used once', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const other = await reopen()
      await store.keys.add(key('a'))
      const refused = await failureOf(other.keys.add(key('a', { name: 'another' })))
      expect(refused.kind).toBe('conflict')
      expect(refused.message).toContain("'a'")
      expect(await store.keys.list()).toEqual([key('a')])
    }))

  test('keys: a revocation happens once and is permanent', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const other = await reopen()
      await store.keys.add(key('a'))
      await store.keys.add(key('b'))
      expect(await other.keys.revoke('a', 5)).toBe(true)
      expect(await store.keys.revoke('a', 6)).toBe(true)
      expect(await store.keys.revoke('no such', 6)).toBe(false)
      expect(await store.keys.list()).toEqual([key('a', { revoked: 5 }), key('b')])
    }))

  test('keys: the terms change with a note, and the identity stays', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const other = await reopen()
      await store.keys.add(key('a', { note: 'first' }))
      await store.keys.add(key('b', { expires: 9 }))
      expect(await other.keys.change('a', now => ({ ...now, note: 'é 😀, 2nd', perDay: 5 }))).toBe(true)
      expect(await other.keys.change('b', ({ expires: _, ...now }) => ({ ...now, name: 'new' }))).toBe(true)
      expect(await other.keys.change('c', now => now)).toBe(false)
      expect(await store.keys.list()).toEqual([key('a', { note: 'é 😀, 2nd', perDay: 5 }), key('b', { name: 'new' })])
      // Concurrent changes must not lose each other's results.
      const one = (own: typeof store) => own.keys.change('a', now => ({ ...now, perSecond: now.perSecond + 1 }))
      await Promise.all([one(store), one(other), one(store), one(other)])
      expect((await store.keys.list())[0]?.perSecond).toBe(14)
    }))

  test('keys: they may be added and revoked while a loader writes', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const other = await reopen()
      const writer = await store.takeOver(identity)
      await Promise.all([commitBatch(writer, batchOf(0, 2000)), other.keys.add(key('a')), store.keys.add(key('b'))])
      await Promise.all([commitBatch(writer, batchOf(2001, 4000)), other.keys.revoke('b', 9)])
      expect(await other.keys.list()).toEqual([key('a'), key('b', { revoked: 9 })])
      expect((await other.published())?.height).toBe(4000)
      await writer.release()
    }))

  test('keys: a store that was never created has none, and none can be added', () =>
    withStore(open, async ({ store }) => {
      expect(await store.keys.list()).toEqual([])
      expect(await store.keys.revoke('a', 1)).toBe(false)
      expect(await kindOf(store.keys.add(key('a')))).toBe('conflict')
      expect(await store.published()).toBeUndefined()
    }))
}
