import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { balances } from '#indices/balance.ts'
import type { StateChange } from '#indices/registry.ts'
import { wealth } from '#indices/wealth.ts'
import type { StateReader } from '#store/state-port.ts'
import { wealthDoc } from '#test/store/suite/fixture.ts'
import { openStateCache } from './state-cache.ts'

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
        cache.begin(batch)
        check(during)
        for (const { doc } of batch) docs.set(doc.id, doc)
        check(during)
        cache.end()
        check(reads)
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

test('openStateCache: members are those of the store, corrected by the batch that is being committed', () => {
  const docs = new Map([
    ['a', wealthDoc('a', 3n)],
    ['b', wealthDoc('b', 2n)],
  ])
  const cache = openStateCache(storeOf(docs).reader)
  cache.begin([changeOf('b', 5n), changeOf('c', 1n)])
  const members = [...cache.members({ index: wealth, order: 'richest' })]
  expect(members.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c'])
  expect(members).toContainEqual(wealthDoc('b', 5n))
})
