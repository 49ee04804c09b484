import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BalanceDoc, balances } from '#indices/balance.ts'
import type { StateChange } from '#indices/registry.ts'
import { wealth } from '#indices/wealth.ts'
import type { DueRange, StateReader } from '#store/state-port.ts'
import { wealthDoc } from '#test/store/suite/fixture.ts'
import { createExpiries, createKnownPublishers, openStateCache } from './deriver.ts'

const balance = (id: string, due: bigint | undefined): BalanceDoc => ({
  ...{ id, token: 'iost', owner: id, amount: 0n, frozen: 1n, frozen_list: [] },
  ...(due === undefined ? {} : { next_due: due }),
})

const mapOf = (docs: readonly BalanceDoc[]) => new Map(docs.map(doc => [doc.id, doc]))

/** A store of balances that answers `due` as the port specifies, and counts the calls. */
function createBalances(docs: Map<string, BalanceDoc>) {
  const store = {
    asked: 0,
    due: ({ after = -1n, until, limit }: DueRange): readonly BalanceDoc[] => {
      store.asked++
      return [...docs.values()]
        .flatMap(doc => (doc.next_due === undefined ? [] : [{ doc, due: doc.next_due }]))
        .filter(({ due }) => due <= until && due > after)
        .sort((a, b) => Number(a.due - b.due) || (a.doc.id < b.doc.id ? -1 : 1))
        .slice(0, limit)
        .map(({ doc }) => doc)
    },
  }
  return store
}

test('createExpiries: stored releases are due once, in order of time, then id', () => {
  const docs = mapOf([balance('c', 20n), balance('b', 10n), balance('a', 20n), balance('d', undefined)])
  const due = createExpiries(5n, createBalances(docs).due)
  due.extend(30n, [])
  expect(due.take(9n)).toEqual([])
  expect(due.take(10n)).toEqual(['b'])
  expect(due.take(20n)).toEqual(['a', 'c'])
  expect(due.take(1_000n)).toEqual([])
})

test('createExpiries: a release that is not stored yet is not lost when the store is read twice', () => {
  const docs = mapOf(Array.from({ length: 12_000 }, (_, i) => balance(`n${i}`, BigInt(i + 1))))
  const store = createBalances(docs)
  const due = createExpiries(0n, store.due)
  due.extend(11_900n, [balance('late', 11_500n)].values())
  expect(store.asked).toBe(2)
  expect(due.take(11_900n)).toContain('late')
})

test('createExpiries: releases at one moment are all found, even if they are more than one read returns', () => {
  const docs = mapOf(Array.from({ length: 25_000 }, (_, i) => balance(`n${String(i).padStart(5, '0')}`, 7n)))
  const store = createBalances(docs)
  const due = createExpiries(undefined, store.due)
  due.extend(7n, [])
  expect(due.take(7n)).toEqual([...docs.keys()])
  expect(store.asked).toBe(3)
})

const changed = (n: number, ahead: bigint, now: bigint) => balance(`n${n}`, ahead > 0n ? now + ahead : undefined)

test('createExpiries: any sequence of changes and reloads gives the same as a full scan', () => {
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
      const current = () => new Map([...stored, ...unwritten])
      const due = createExpiries(0n, createBalances(stored).due)
      let now = 0n
      for (const { move, changes, written } of steps) {
        now += move
        due.extend(now, unwritten.values())
        const all = [...current().values()].filter(({ next_due = now + 1n }) => next_due <= now).map(({ id }) => id)
        // A change may have moved or ended a release that is taken.
        const taken = due.take(now).filter(id => all.includes(id))
        expect(taken.toSorted()).toEqual(all.sort())
        // Due amounts are released; then come the block's own changes, none of which is due already.
        for (const id of taken) unwritten.set(id, balance(id, undefined))
        for (const [n, ahead] of changes) {
          const doc = changed(n, ahead, now)
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

const changeOf = (name: string, total: bigint) => ({ index: wealth, doc: wealthDoc(name, total) }) as StateChange

/** A store of wealth in memory, which counts its reads. */
function storeOf(docs: Map<string, StateChange['doc']>) {
  let reads = 0
  const reader: StateReader = {
    get: (index, id) => {
      reads += 1
      return (index.name === wealth.name ? docs.get(id) : undefined) as never
    },
    due: () => [],
    members: () => [...docs.values()],
  }
  return { reader, reads: () => reads }
}

test('openStateCache: any sequence of reads and batches sees the last version of every document, however small the cache is', () => {
  const step = fc.record({
    changes: fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.bigInt(1n, 99n)), { selector: ([n]) => n }),
    reads: fc.array(fc.integer({ min: 0, max: 9 })),
    /** Documents read while the batch is committed, before and after the store shows it. */
    during: fc.array(fc.integer({ min: 0, max: 9 })),
  })
  fc.assert(
    fc.property(fc.array(step), fc.integer({ min: 1, max: 8 }), (steps, generation) => {
      const docs = new Map<string, StateChange['doc']>()
      const right = new Map<string, StateChange['doc']>()
      const cache = openStateCache(storeOf(docs).reader, generation)
      const check = (names: readonly number[]): void => {
        for (const n of names) expect(cache.get(wealth, `n${n}`)).toEqual(right.get(`n${n}`))
      }
      for (const { changes, reads, during } of steps) {
        check(reads)
        const batch = changes.map(([n, total]) => changeOf(`n${n}`, total))
        for (const { doc } of batch) right.set(doc.id, doc)
        cache.cut(batch)
        check(during)
        for (const { doc } of batch) docs.set(doc.id, doc)
        check(during)
      }
    }),
    { numRuns: 300 },
  )
})

test('openStateCache: recently used documents are not read again, also those that the store lacks', () => {
  const { reader, reads } = storeOf(new Map([['a', wealthDoc('a', 1n)]]))
  const cache = openStateCache(reader, 10)
  for (let time = 0; time < 3; time++) {
    expect(cache.get(wealth, 'a')).toEqual(wealthDoc('a', 1n))
    expect(cache.get(wealth, '__proto__')).toBeUndefined()
    expect(cache.get(balances, 'a')).toBeUndefined()
  }
  expect(reads()).toBe(3)
})

test('openStateCache: members are those of the store, corrected by the batch cut last', () => {
  const docs = new Map([
    ['a', wealthDoc('a', 3n)],
    ['b', wealthDoc('b', 2n)],
  ])
  const cache = openStateCache(storeOf(docs).reader)
  cache.cut([changeOf('b', 5n), changeOf('c', 1n)])
  const members = [...cache.members({ index: wealth, order: 'richest' })]
  expect(members.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c'])
  expect(members).toContainEqual(wealthDoc('b', 5n))
})

test('publishers: a transaction of a derived block is known before its batch is in the store, and the store is asked once', async () => {
  const asked: (readonly string[])[] = []
  const transactionsOf = async (hashes: readonly string[]) => {
    asked.push(hashes)
    return []
  }
  const publishers = createKnownPublishers({ transactionsOf })
  const tx = (hash: string, statusCode: string) => ({
    hash,
    publisher: `by ${hash}`,
    delay: 0n,
    receipt: { statusCode },
  })
  const block = { transactions: [tx('made', 'SUCCESS'), tx('failed', 'RUNTIME_ERROR')] }
  publishers.add(block as unknown as Parameters<typeof publishers.add>[0])
  expect([publishers.get('made'), publishers.get('failed')]).toEqual(['by made', 'unknown'])
  publishers.cut()
  expect(publishers.get('made')).toBe('by made')
  publishers.cut()
  expect(publishers.get('made')).toBe('unknown')
  await publishers.fetch(['made', 'failed'])
  expect(['made', 'failed'].map(hash => publishers.get(hash))).toEqual([undefined, undefined])
  expect(asked).toEqual([['made', 'failed']])
})
