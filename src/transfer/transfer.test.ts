import { expect, test } from 'bun:test'
import { type Index, int, long, optional } from '#indices/define.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { WritePosition } from '#store/maintain-port.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { isAsDigested, isUntouched, withOperations } from './backup.ts'
import { findListStarts } from './copy.ts'
import { canonicalText, type Digest, DigestSum, STARTS, sumOfSums } from './digest.ts'

const WRITTEN: readonly WritePosition[] = [
  { index: 'blocks', partition: 0, operation: 9, documents: 10 },
  { index: 'blocks', partition: 1, operation: 4, documents: 5 },
  { index: 'lists', operation: 30, documents: 3 },
  { index: 'tokens', operation: -1, documents: 0 },
]
const SUM = '0'.repeat(64)
const BARE: readonly Digest[] = [
  ...WRITTEN.map(({ operation: _, ...rest }) => ({ ...rest, sum: SUM })),
  { index: STARTS, documents: 3, sum: SUM },
]
const DIGESTS = withOperations(BARE, WRITTEN)

const changed = (at: number, change: Partial<WritePosition>): readonly WritePosition[] =>
  WRITTEN.map((each, n) => (n === at ? { ...each, ...change } : each))

test('isAsDigested: equal operations and documents match in any order; an additional operation, a missing document, or a missing or additional index does not', () => {
  for (const order of [WRITTEN, WRITTEN.toReversed()]) expect(isAsDigested(DIGESTS, order)).toBe(true)
  // Digests without operations, as earlier versions wrote them, never match.
  expect(isAsDigested(BARE, WRITTEN)).toBe(false)
  const others = [
    ...WRITTEN.flatMap(({ operation, documents }, at) => [
      changed(at, { operation: operation + 1 }),
      changed(at, { documents: documents - 1 }),
    ]),
    WRITTEN.slice(1),
    [...WRITTEN, { index: 'accounts', operation: 0, documents: 1 }],
    changed(1, { partition: 2 }),
    [],
  ]
  expect(others.map(other => isAsDigested(DIGESTS, other))).toEqual(others.map(() => false))
})

test('isUntouched: the store is untouched until an operation is added', () => {
  expect(isUntouched(WRITTEN, WRITTEN)).toBe(true)
  expect(isUntouched(WRITTEN, changed(2, { operation: 31 }))).toBe(false)
  expect(isUntouched(WRITTEN, WRITTEN.slice(1))).toBe(false)
})

const SEED = seedOf(31)

const plainStarts = (firsts: readonly number[], heights: readonly number[]) =>
  firsts.flatMap((first, partition) => {
    const end = firsts[partition + 1] ?? Number.POSITIVE_INFINITY
    const at = heights.findIndex(height => height >= first && height < end)
    return at < 0 ? [] : [[partition, at + 1]]
  })

test('starts: the result equals that of a scan of every row, for any list and any partitions', async () => {
  const random = seeded(SEED)
  const below = (most: number): number => Math.floor(random() * most)
  for (let round = 0; round < 300; round++) {
    const some = (length: number) => Array.from({ length }, () => below(1_000)).sort((a, b) => a - b)
    const heights = some(1 + below(round % 3 === 0 ? 5 : 400))
    const firsts = [...new Set([0, ...some(below(6))])]
    const list = { id: 'list', number: 1, count: heights.length, starts: [] }
    const found = await findListStarts(firsts, list, async ordinals =>
      ordinals.map(ordinal => ({ height: heights[ordinal - 1] ?? Number.NaN })),
    )
    expect([SEED, round, found]).toEqual([SEED, round, plainStarts(firsts, heights) as never])
  }
})

/** An index with three numeric fields, any of which may be absent. */
const numbers = {
  ...records,
  fields: { a: optional(long()), b: optional(int()), c: optional(long()) },
} satisfies Index as unknown as AnyIndex

test('canonicalText: an absent number is distinct from the sign of the next one', () => {
  const texts = [{ b: 5, c: -7n }, { a: -5n, c: 7n }, { a: 5n, b: -7 }, { a: 5n, c: -7n }, {}].map(doc =>
    canonicalText(numbers, { id: '1', ...doc }),
  )
  expect(new Set(texts).size).toBe(5)
})

const doc: RecordDoc = {
  ...{ id: '1', height: 1, tx: 2, index: 3, tx_hash: 'h', time: 4n, contract: 'c', action_name: 'a' },
  ...{ data: '[]', return: '', status_code: 'SUCCESS', from: 'f', to: 't', overflow: false, places: [5n] },
}

test('canonicalText: moving letters from a text to the next one changes the result', () => {
  const changes = [{}, { from: 'ft', to: '' }, { from: '', to: 'ft' }, { amount: '' }, { creator: '' }]
  const texts = changes.map(change => canonicalText(records, { ...doc, ...change }))
  expect(new Set(texts).size).toBe(5)
})

function sumOf(texts: readonly string[]) {
  const sum = new DigestSum()
  for (const text of texts) sum.add(text)
  return sum.result()
}

function plainSumOf(texts: readonly string[]): string {
  const hashes = texts.map(text => BigInt(`0x${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`))
  const sum = hashes.reduce((all, each) => all + each, 0n)
  return BigInt.asUintN(256, sum).toString(16).padStart(64, '0')
}

const TEXTS = Array.from({ length: 500 }, (_, at) => `text ${at}`)

test('sum: the result is the sum of whole numbers, in any order', () => {
  const random = seeded(seedOf(7))
  const shuffled = TEXTS.toSorted(() => random() - 0.5)
  expect(sumOf(TEXTS)).toEqual({ documents: 500, sum: plainSumOf(TEXTS) })
  expect(sumOf(shuffled)).toEqual(sumOf(TEXTS))
})

test('sum: parts add up to the whole', () => {
  expect(sumOfSums([sumOf(TEXTS.slice(0, 200)), sumOf(TEXTS.slice(200)), sumOf([])])).toEqual(sumOf(TEXTS))
})
