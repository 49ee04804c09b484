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

const byTimeAndId = (a: StoredKey, b: StoredKey): number => a.created - b.created || (a.id < b.id ? -1 : 1)

/** API keys, independent of the loaded blocks. */
export function keyCases(open: Open): void {
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

  test('keys: a reader gets all keys once, and then those that were written since, however many have the same time', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const other = await reopen()
      const known = new Map<string, StoredKey>()
      let mark: string | undefined
      /** Reads up to the end; returns the number of keys that came. */
      const follow = async (): Promise<number> => {
        for (let came = 0; ; ) {
          const page = await other.keys.read(mark)
          if (page.isStart) known.clear()
          for (const each of page.keys) known.set(each.id, each)
          came += page.keys.length
          mark = page.mark
          if (page.isEnd) return came
        }
      }
      expect(await follow()).toBe(0)
      const ids = Array.from({ length: 12_500 }, (_, number) => number.toString(16).padStart(10, '0'))
      for (let at = 0; at < ids.length; at += 2_500)
        await store.keys.add(...ids.slice(at, at + 2_500).map(id => key(id)))
      await follow()
      expect([known.size, (await store.keys.list()).length]).toEqual([ids.length, ids.length])
      // From here on a read costs as much as was written, not as much as there is.
      for (let times = 0; times < 3; times++) expect(await follow()).toBeLessThan(100)
      const [first = '', second = ''] = ids
      await store.keys.revoke(first, 5)
      await other.keys.change(second, now => ({ ...now, perDay: 7 }))
      await store.keys.add(key('new'))
      expect(await follow()).toBeLessThan(100)
      expect([known.get(first)?.revoked, known.get(second)?.perDay, known.get('new')]).toEqual([5, 7, key('new')])
      // A reader that missed many writes reads all keys again.
      const late = Array.from({ length: 1_500 }, (_, number) => key(`late ${number}`))
      await store.keys.add(...late)
      await follow()
      expect(await store.keys.list()).toEqual([...known.values()].toSorted(byTimeAndId))
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
