import { expect, test } from 'bun:test'
import { type Index, int, long, optional } from '#indices/define.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { canonicalText, DigestSum, sumOfSums } from './digest.ts'

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
  const texts = [
    doc,
    { ...doc, from: 'ft', to: '' },
    { ...doc, from: '', to: 'ft' },
    { ...doc, amount: '' },
    { ...doc, creator: '' },
  ].map(each => canonicalText(records, each))
  expect(new Set(texts).size).toBe(5)
})

function sumOf(texts: readonly string[]) {
  const sum = new DigestSum()
  for (const text of texts) sum.add(text)
  return sum.result()
}

/** The same sum by bigint arithmetic. */
const plainSumOf = (texts: readonly string[]): string =>
  BigInt.asUintN(
    256,
    texts
      .map(text => BigInt(`0x${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`))
      .reduce((all, each) => all + each, 0n),
  )
    .toString(16)
    .padStart(64, '0')

const TEXTS = Array.from({ length: 500 }, (_, at) => `text ${at}`)

test('sum: the result is the sum of whole numbers, in any order', () => {
  const random = seeded(seedOf(7))
  const shuffled = TEXTS.toSorted(() => random() - 0.5)
  expect(sumOf(TEXTS)).toEqual({ documents: 500, sum: plainSumOf(TEXTS) })
  expect(sumOf(shuffled)).toEqual(sumOf(TEXTS))
})

test('sum: a missing, changed or repeated text gives another result', () => {
  const [first = '', ...rest] = TEXTS
  const others = [rest, [...rest, `${first}.`], [first, ...TEXTS], [first, first, ...TEXTS]].map(sumOf)
  const sums = [sumOf(TEXTS), ...others].map(({ sum }) => sum)
  expect(new Set(sums).size).toBe(5)
})

test('sum: parts add up to the whole', () => {
  expect(sumOfSums([sumOf(TEXTS.slice(0, 200)), sumOf(TEXTS.slice(200)), sumOf([])])).toEqual(sumOf(TEXTS))
})
