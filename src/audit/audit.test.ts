import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/list.ts'
import type { Published, Store } from '#store/port.ts'
import { spread } from './audit.ts'
import { createFindings, type Finding, findingText } from './compare.ts'
import { createTextSet } from './node-state.ts'
import { findLastHeight } from './repair.ts'
import { checkContinuity, splitHeights } from './source.ts'

const sampled = (last: number, count: number): readonly number[] =>
  Array.from({ length: last + 1 }, (_, height) => height).filter(spread(last, count))

test('spread: the sample has the given size and contains the first and the last, unless it is empty', () => {
  expect(sampled(99, 4)).toEqual([0, 25, 50, 75, 99])
  expect(sampled(3, 1)).toEqual([0, 3])
  expect(sampled(99, 0)).toEqual([])
  expect(sampled(3, 1_000)).toEqual([0, 1, 2, 3])
})

const finding = (more: Partial<Finding> = {}): Finding => ({
  ...{ index: 'lists', id: 'account/admin', field: 'row 7', stored: 'nothing' },
  ...{ expected: '000000000007-00001-00000', by: 'replay' as const, ...more },
})

test('findings: a limited number of each kind is shown and all are counted; list rows are one kind', () => {
  const found = createFindings(2)
  for (const field of ['row 1', 'row 2', 'row 3', 'count']) found.add(finding({ field }))
  found.add(finding({ field: 'count', by: 'node' }))
  expect(found.shown.map(({ field }) => field)).toEqual(['row 1', 'row 2', 'count', 'count'])
  expect([...found.totals]).toEqual([
    ['lists row', 3],
    ['lists count', 2],
  ])
  expect([found.count, found.beyondRepair]).toEqual([5, 1])
})

test('findingText: a finding is one line with shortened values and the node’s name', () => {
  expect(findingText(finding())).toBe('lists account/admin row 7: stored nothing expected 000000000007-00001-00000')
  expect(findingText(finding({ stored: 'x'.repeat(161), by: 'node' }))).toBe(
    `lists account/admin row 7: stored ${'x'.repeat(160)}… (161 characters) expected 000000000007-00001-00000 (node)`,
  )
})

test('createTextSet: each text is counted once, with any number of texts and any names', () => {
  const { add } = createTextSet()
  const names = [...Array.from({ length: 20_000 }, (_, at) => `auth-${at}`), '', '__proto__', '12345']
  expect(names.filter(add)).toEqual(names)
  expect(names.filter(add)).toEqual([])
})

test('findLastHeight: the last match is found, with few looks when it is near the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(5_000), fc.integer({ min: -1, max: 5_000 }), async (top, last) => {
      let looks = 0
      const holds = async (height: number): Promise<boolean> => {
        looks += 1
        return height <= last
      }
      expect(await findLastHeight(top, holds)).toBe(Math.min(top, last))
      expect(looks).toBeLessThan(40)
      looks = 0
      expect(await findLastHeight(undefined, holds)).toBe(last)
      expect(looks).toBeLessThan(40)
    }),
  )
  let looks = 0
  await findLastHeight(200_000_000, async height => {
    looks += 1
    return height < 200_000_000
  })
  expect(looks).toBeLessThan(4)
})

const LAST = 450
const hashOf = (height: number) => `hash${height}`
/** A store with blocks 0 … 450, each with a base transaction and another one; some documents are changed or removed. */
function storeWith(changes: ReadonlyMap<string, object | undefined>): Pick<Store, 'read'> {
  const docs = new Map<string, object>()
  for (let height = 0; height <= LAST; height++) {
    const parent_hash = height === 0 ? '' : hashOf(height - 1)
    const tx_hashes = `base${height} tx${height}`
    docs.set(blockId(height), { height, hash: hashOf(height), parent_hash, tx_count: 2, tx_hashes, base: '{}' })
    docs.set(transactionId(height, 1), { hash: `tx${height}` })
  }
  for (const [id, doc] of changes) {
    if (doc === undefined) docs.delete(id)
    else docs.set(id, { ...docs.get(id), ...doc })
  }
  const view = { getMany: async (_index: typeof blocks, ids: readonly string[]) => ids.map(id => docs.get(id)) }
  return { read: work => work(view as never) }
}

const published: Published = { height: LAST, hash: hashOf(LAST), time: 0n, lib: LAST }
const look = (changes: ReadonlyMap<string, object | undefined>) =>
  checkContinuity(storeWith(changes), { published, all: true, signal: new AbortController().signal })

test('checkContinuity: a whole chain has no problems', async () => {
  expect(await look(new Map())).toEqual({ blocks: 451, transactions: 451, problems: [] })
})

test.each([
  [blockId(0), undefined, 'block 0 is missing'],
  [blockId(200), undefined, 'block 200 is missing'],
  [blockId(LAST), undefined, 'block 450 is missing'],
  [blockId(3), { height: 4 }, 'block 3 is stored as block 4'],
  [blockId(200), { parent_hash: 'x' }, 'block 200 has the parent hash x, but block 199 has the hash hash199'],
  [blockId(LAST), { hash: 'x' }, 'block 450 has the hash x, but hash450 is published'],
  [blockId(7), { tx_count: 3 }, 'block 7 has 2 of 3 transaction hashes'],
  [transactionId(9, 1), undefined, `transaction ${transactionId(9, 1)} (tx9) is missing`],
  [transactionId(9, 1), { hash: 'x' }, `transaction ${transactionId(9, 1)} has the hash x, but its block names tx9`],
] as const)('checkContinuity: %s changed to %p is found', async (id, doc, problem) => {
  expect((await look(new Map([[id, doc]]))).problems).toEqual([problem])
})

test('checkContinuity: the check of an empty store at a great height ends after a few problems', async () => {
  const none = new Map([...Array(LAST + 1).keys()].map(height => [blockId(height), undefined]))
  expect((await look(none)).problems.length).toBe(20)
})

test('heights of a check: all once with `all`, otherwise a sample with both ends', () => {
  expect(splitHeights(0, false)).toEqual([{ from: 0, to: 0 }])
  expect(splitHeights(450, true)).toEqual([
    { from: 0, to: 199 },
    { from: 200, to: 399 },
    { from: 400, to: 450 },
  ])
  const some = splitHeights(300_000_000, false)
  const ends = [
    { from: 0, to: 199 },
    { from: 300_000_000, to: 300_000_000 },
  ]
  expect([some.length, some[0], some.at(-1)]).toEqual([25, ...ends])
})
