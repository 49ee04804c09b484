import { expect, test } from 'bun:test'
import { USAGE_DAYS } from '#store/keys-port.ts'
import { sortedByKey } from '#test/support/sorted-by-key.ts'
import { failureOf, type Open, withStore } from './harness.ts'

const counts = (...each: readonly (readonly [string, number])[]) => new Map(each)

/** Request counts, shared by all processes with the store. */
export function usageCases(open: Open): void {
  test('usage: several processes add counts, each gets the total, and the counts stay after a close', () =>
    withStore(open, async ({ store, reopen }) => {
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

  test('usage: nothing is counted for a store that does not exist, until it does', () =>
    withStore(open, async ({ store }) => {
      expect(await store.usage.since(0)).toEqual([])
      expect(await failureOf(store.usage.add(500, counts(['test', 2]), 10))).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('There is no '),
      })
      expect(await store.usage.since(0)).toEqual([])
      await store.create()
      expect(await store.usage.add(500, counts(['test', 2]), 10)).toEqual(counts(['test', 2]))
    }))
}
