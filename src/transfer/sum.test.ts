import { expect, test } from 'bun:test'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { DigestSum, sumOfSums } from './sum.ts'

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
