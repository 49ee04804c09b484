import { expect, test } from 'bun:test'
import { type StoredKey, USAGE_DAYS } from '#store/keys-port.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { sortedByKey } from '#test/support/sorted-by-key.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { batchOf } from './fixture.ts'
import { type Open, withStore, withWriter } from './harness.ts'

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

const counts = (...each: readonly (readonly [string, number])[]) => new Map(each)

/** API keys, and counts of requests that all processes of a store share. Both are independent of the loaded blocks. */
export function keyCases(open: Open): void {
  test('keys: none can be added before the store is created; then they are listed by creation time and id, visible at once in other handles, and an id is used once', () =>
    withStore(open, async ({ store, reopen }) => {
      expect(await store.keys.list()).toEqual([])
      expect(await store.keys.revoke('a', 1)).toBe(false)
      expect(await kindOf(store.keys.add(key('a')))).toBe('conflict')
      expect(await store.published()).toBeUndefined()
      await store.create()
      const other = await reopen()
      expect(await store.keys.list()).toEqual([])
      const late = key('a', { created: 1_767_225_600_001, expires: 2_000_000_000_000, name: 'é\u0000😀 "x"' })
      const early = [key('__proto__'), key('b'), key('c')]
      for (const each of [late, ...early.toReversed()]) await store.keys.add(each)
      expect(await other.keys.list()).toEqual([...early, late])
      const refused = { kind: 'conflict', message: expect.stringContaining("'a'") }
      expect(await failureOf(other.keys.add(key('a', { name: 'another' })))).toMatchObject(refused)
      expect(await store.keys.list()).toEqual([...early, late])
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
      await store.keys.add(...Array.from({ length: 1_500 }, (_, number) => key(`late ${number}`)))
      await follow()
      expect(await store.keys.list()).toEqual([...known.values()].toSorted(byTimeAndId))
    }))

  test('keys: while a loader writes they are added, revoked once and for ever, and get other terms; concurrent changes do not lose each other’s results', () =>
    withWriter(open, async ({ store, reopen, writer }) => {
      const other = await reopen()
      const first = key('a', { note: 'first' })
      await Promise.all([commitBatch(writer, batchOf(0, 2000)), other.keys.add(first), store.keys.add(key('b'))])
      await Promise.all([commitBatch(writer, batchOf(2001, 4000)), other.keys.revoke('b', 9)])
      expect((await other.published())?.height).toBe(4000)
      expect([await store.keys.revoke('b', 10), await store.keys.revoke('no such', 6)]).toEqual([true, false])
      expect(await other.keys.list()).toEqual([first, key('b', { revoked: 9 })])

      await store.keys.add(key('c', { expires: 9 }))
      expect(await other.keys.change('a', now => ({ ...now, note: 'é 😀, 2nd', perDay: 5 }))).toBe(true)
      expect(await other.keys.change('c', ({ expires: _, ...now }) => ({ ...now, name: 'new' }))).toBe(true)
      expect(await other.keys.change('d', now => now)).toBe(false)
      const changed = key('a', { note: 'é 😀, 2nd', perDay: 5 })
      expect(await store.keys.list()).toEqual([changed, key('b', { revoked: 9 }), key('c', { name: 'new' })])
      const one = (own: typeof store) => own.keys.change('a', now => ({ ...now, perSecond: now.perSecond + 1 }))
      await Promise.all([one(store), one(other), one(store), one(other)])
      expect((await store.keys.list())[0]?.perSecond).toBe(14)
    }))

  test('usage: several processes add counts, each gets the total, and the counts stay after a close', () =>
    withStore(open, async ({ store, reopen }) => {
      expect(await store.usage.since(0)).toEqual([])
      expect(await failureOf(store.usage.add(500, counts(['test', 2]), 10))).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('There is no '),
      })
      await store.create()
      const other = await reopen()
      expect(await store.usage.since(0)).toEqual([])
      expect(await store.usage.add(500, counts(), 1)).toEqual(counts())
      expect(await store.usage.add(500, counts(['a', 2]), 10)).toEqual(counts(['a', 2]))
      expect(sortedByKey(await other.usage.add(500, counts(['a', 3], ['__proto__', 1]), 20))).toEqual(
        sortedByKey(counts(['a', 5], ['__proto__', 1])),
      )
      // The first process gets the new counts with its next call, even if it adds nothing.
      expect((await store.usage.add(500, counts(), 30)).get('a')).toBe(5)
      expect((await store.usage.add(500, counts(['a', -1]), 30)).get('a')).toBe(4)
      await other.close()
      const third = await reopen()
      expect((await third.usage.add(500, counts(['b', 1]), 40)).get('a')).toBe(4)
      expect(await third.usage.add(501, counts(['a', 7]), 50)).toEqual(counts(['a', 7]))
      // A clock that is set back over midnight returns to the previous day with all its counts.
      expect(sortedByKey(await third.usage.add(500, counts(['c', 1]), 45))).toEqual(
        sortedByKey(counts(['a', 4], ['__proto__', 1], ['b', 1], ['c', 1])),
      )
      expect((await third.usage.add(501, counts(['a', 1]), 60)).get('a')).toBe(8)
    }))

  test('usage: the counts of each day and the last request are stored, and removed in the end', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      const other = await reopen()
      await store.usage.add(500, counts(['a', 2]), 10)
      await other.usage.add(500, counts(['a', 3]), 20)
      await other.usage.add(501, counts(['a', 4]), 30)
      const days = async (from: number) => (await store.usage.since(from)).toSorted((one, two) => one.day - two.day)
      const second = { day: 501, key: 'a', requests: 4, last: 30 }
      expect(await days(0)).toEqual([{ day: 500, key: 'a', requests: 5, last: 20 }, second])
      expect(await days(501)).toEqual([second])
      await other.usage.add(501 + USAGE_DAYS, counts(['a', 1]), 40)
      await other.usage.add(501 + USAGE_DAYS, counts(['a', 1]), 50)
      expect(await days(0)).toEqual([second, { day: 501 + USAGE_DAYS, key: 'a', requests: 2, last: 50 }])
    }))
}
