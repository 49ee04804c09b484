import { expect, test } from 'bun:test'
import { seeded } from '#test/support/seeded.ts'
import { numberText, parsePackedNumber } from './series.ts'

const next = seeded(36)
const random = (digits: number): bigint =>
  BigInt(Array.from({ length: digits }, () => Math.floor(next() * 10)).join(''))

test('numberText: any number is read as it was, in fewer letters where it is long', () => {
  const ends = [0n, 1n, 35n, 36n, 10n ** 18n, 10n ** 19n - 1n, 10n ** 19n, 2n ** 63n, 36n ** 40n, 36n ** 40n - 1n]
  const others = Array.from({ length: 2_000 }, (_, at) => random(1 + (at % 120)))
  for (const each of [...ends, ...others])
    for (const value of [each, -each]) {
      const text = numberText(value)
      expect(parsePackedNumber(text)).toBe(value)
      expect(text).not.toMatch(/[,;%]/)
      expect(text.length).toBeLessThanOrEqual(String(value).length)
    }
  expect([numberText(-12n), numberText(36n ** 20n), numberText(-(36n ** 20n) - 35n)]).toEqual([
    '-12',
    `^1${'0'.repeat(20)}`,
    `-^1${'0'.repeat(19)}z`,
  ])
})

test('a packed number: another text is refused', () => {
  for (const text of ['1.5', '^1Z', '^12 ', '^-1', 'x']) expect(() => parsePackedNumber(text)).toThrow(SyntaxError)
})
