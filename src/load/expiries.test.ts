import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { BalanceDoc } from '#indices/balance.ts'
import type { DueRange } from '#store/state-port.ts'
import { expiries } from './expiries.ts'

const balance = (id: string, due: bigint | undefined): BalanceDoc => ({
  id,
  token: 'iost',
  owner: id,
  amount: 0n,
  frozen: 1n,
  frozen_list: [],
  ...(due === undefined ? {} : { next_due: due }),
})

/** A store of balances that answers `due` as the port specifies, and counts the calls. */
function storeOf(docs: Map<string, BalanceDoc>) {
  let asked = 0
  return {
    get asked() {
      return asked
    },
    due: ({ after, until, limit }: DueRange): readonly BalanceDoc[] => {
      asked++
      const dueOf = (doc: BalanceDoc): bigint => doc.next_due ?? 0n
      return [...docs.values()]
        .filter(d => d.next_due !== undefined && d.next_due <= until && (after === undefined || d.next_due > after))
        .sort((a, b) => (dueOf(a) < dueOf(b) ? -1 : dueOf(a) > dueOf(b) ? 1 : a.id < b.id ? -1 : 1))
        .slice(0, limit)
    },
  }
}

test('expiries: stored releases are due once, in order of time, then id', () => {
  const docs = new Map(
    [balance('c', 20n), balance('b', 10n), balance('a', 20n), balance('d', undefined)].map(d => [d.id, d]),
  )
  const due = expiries(5n, storeOf(docs).due)
  due.extend(30n, [])
  expect(due.take(9n)).toEqual([])
  expect(due.take(10n)).toEqual(['b'])
  expect(due.take(20n)).toEqual(['a', 'c'])
  expect(due.take(1_000n)).toEqual([])
})

test('expiries: a release beyond the horizon that is not stored yet is not lost when the horizon moves', () => {
  const due = expiries(0n, storeOf(new Map()).due)
  due.extend(1n, [])
  const late = balance('late', 10_000_000_000_000n)
  due.learn(late)
  expect(due.take(10_000_000_000_000n)).toEqual([])
  due.extend(10_000_000_000_000n, [late])
  expect(due.take(10_000_000_000_000n)).toEqual(['late'])
})

test('expiries: a release that is not stored yet is not lost when the store is read twice', () => {
  const docs = new Map(Array.from({ length: 12_000 }, (_, i) => balance(`n${i}`, BigInt(i + 1))).map(d => [d.id, d]))
  const store = storeOf(docs)
  const due = expiries(0n, store.due)
  const unwritten = function* () {
    yield balance('late', 11_500n)
  }
  due.extend(11_900n, unwritten())
  expect(store.asked).toBe(2)
  expect(due.take(11_900n)).toContain('late')
})

test('expiries: releases at one moment are all found, even if they are more than one read returns', () => {
  const docs = new Map(
    Array.from({ length: 25_000 }, (_, i) => balance(`n${String(i).padStart(5, '0')}`, 7n)).map(d => [d.id, d]),
  )
  const store = storeOf(docs)
  const due = expiries(undefined, store.due)
  due.extend(7n, [])
  expect(due.take(7n)).toEqual([...docs.keys()])
  expect(store.asked).toBe(3)
})

/** Ids of the balances with a release at or before `now`. */
const dueOf = (docs: ReadonlyMap<string, BalanceDoc>, now: bigint): string[] =>
  [...docs.values()]
    .filter(({ next_due }) => next_due !== undefined && next_due <= now)
    .map(({ id }) => id)
    .sort()

const changedAt = (now: bigint, changes: readonly (readonly [n: number, ahead: bigint])[]) =>
  changes.map(([n, ahead]) => balance(`n${n}`, ahead > 0n ? now + ahead : undefined))

test('expiries: any sequence of changes and reloads gives the same as a full scan', () => {
  const HOUR = 3_600_000_000_000n
  const step = fc.record({
    move: fc.bigInt({ min: 1n, max: 3n * HOUR }),
    changes: fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.bigInt({ min: -HOUR, max: 6n * HOUR })), {
      maxLength: 5,
    }),
    written: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), steps => {
      const stored = new Map<string, BalanceDoc>()
      const unwritten = new Map<string, BalanceDoc>()
      const current = (id: string) => unwritten.get(id) ?? stored.get(id)
      const due = expiries(0n, storeOf(stored).due)
      let now = 0n
      for (const { move, changes, written } of steps) {
        now += move
        due.extend(now, unwritten.values())
        const taken = due
          .take(now)
          .filter(id => (current(id)?.next_due ?? now + 1n) <= now)
          .sort()
        expect(taken).toEqual(dueOf(new Map([...stored, ...unwritten]), now))
        // Due amounts are released; then come the block's own changes, none of which is due already.
        for (const id of taken) unwritten.set(id, balance(id, undefined))
        for (const doc of changedAt(now, changes)) {
          unwritten.set(doc.id, doc)
          due.learn(doc)
        }
        if (!written) continue
        for (const [id, doc] of unwritten) stored.set(id, doc)
        unwritten.clear()
      }
    }),
    { numRuns: 300 },
  )
})
