import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatUnits, multiplyDecimals, parseUnits, parseUnitsLeniently, roundToUnits, sum, toUnits } from './amount.ts'

test.each<readonly [string, number, bigint, string]>([
  ['0', 8, 0n, '0'],
  ['1.5', 8, 150000000n, '1.5'],
  ['0001.500', 8, 150000000n, '1.5'],
  ['1234.56789', 4, 12345678n, '1234.5678'],
  ['0.000000019', 8, 1n, '0.00000001'],
  ['92233720368.54775807', 8, 9223372036854775807n, '92233720368.54775807'],
  ['4997498821.49999999', 8, 499749882149999999n, '4997498821.49999999'],
  ['9.99', 0, 9n, '9'],
  ['9.223372036854775807', 18, 9223372036854775807n, '9.223372036854775807'],
  ['-1.5', 8, -150000000n, '-1.5'],
])('toUnits, formatUnits: "%s" with %d decimals', (...[text, decimals, units, shown]) => {
  if (units >= 0n) expect(toUnits(text, decimals)).toBe(units)
  expect(formatUnits(units, decimals)).toBe(shown)
})

const NO_AMOUNTS = ['', ' 1', '1 ', '1\n', ...'. 1. .5 -1 +1 1e5 1E7 1,5 0x10 ١ NaN 1.5.0'.split(' ')]
test.each(NO_AMOUNTS)('toUnits: %p is not an amount', text => {
  expect(parseUnits(text, 8)).toBeUndefined()
  expect(() => toUnits(text, 8)).toThrow(`Amount "${text}" is not a decimal number without sign and exponent.`)
})

test.each<readonly [string, bigint | undefined]>([
  ['1.20294517598E7', 120294517n],
  ['1.00000000abc', 100000000n],
  ['1.5', 150000000n],
  ['12', 1200000000n],
  ['3.', 300000000n],
  ['--5', 500000000n],
  ['----0.5', 50000000n],
  ['2.5.5', 250000000n],
  ...['', '-1', '---1', '.5', '+1', 'E7'].map(text => [text, undefined] as const),
])('parseUnitsLeniently: "%s" is read as the node reads it', (text, units) => {
  expect(parseUnitsLeniently(text, 8)).toBe(units)
})

const decimals = fc.integer({ min: 0, max: 18 })
const units = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })

test('toUnits, formatUnits: every amount of every token survives a round trip, in the shortest form without an exponent', () => {
  fc.assert(
    fc.property(units, decimals, (amount, places) => {
      const text = formatUnits(amount, places)
      expect(text).toMatch(/^(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$/)
      expect(toUnits(text, places)).toBe(amount)
      expect(roundToUnits(text, places)).toBe(amount)
    }),
  )
})

test('toUnits: the result equals integer arithmetic on whole part and fraction', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.stringMatching(/^[0-9]{1,25}$/),
      decimals,
      (whole, fraction, places) => {
        const scale = 10n ** BigInt(places)
        const expected = whole * scale + (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length)
        return toUnits(`${whole}.${fraction}`, places) === expected
      },
    ),
  )
})

test('multiplyDecimals and sum: all digits of numbers with any number of decimals are kept', () => {
  const decimal = fc.tuple(fc.bigInt(), fc.nat(20))
  fc.assert(
    fc.property(decimal, decimal, ([a, scale], [b, other]) => {
      const [one, two] = [formatUnits(a, scale), formatUnits(b, other)]
      expect(multiplyDecimals(one, two)).toBe(formatUnits(a * b, scale + other))
      expect(sum(one, two)).toBe(formatUnits(a * 10n ** BigInt(other) + b * 10n ** BigInt(scale), scale + other))
    }),
  )
})

test.each([
  ['1.5', 150_000_000n],
  ['4.5e-8', 5n],
  ['4.49e-8', 4n],
  ['1e-8', 1n],
  ['1E+2', 10_000_000_000n],
  ['1e-20', 0n],
  ['0.000000014', 1n],
  ['0.000000015', 2n],
  ['92233720368.54775807', 9_223_372_036_854_775_807n],
  ['.5', 50_000_000n],
  ['5.', 500_000_000n],
  ['', undefined],
  ['.', undefined],
  ['e5', undefined],
  ['-1', undefined],
  ['1e', undefined],
  ['1 ', 100_000_000n],
  [' +2.5', 250_000_000n],
  ['+ 1', undefined],
  ['0x10', 1_600_000_000n],
  ['0XAF', 17_500_000_000n],
  ['+0b101', 500_000_000n],
  ['0o17', 1_500_000_000n],
  ['0xaF', undefined],
  ['0b2', undefined],
  ['0x0x8.F', 893_750_000n],
  ['0b.1', undefined],
  ['1e0002', 10_000_000_000n],
  ['9223372036854775807', 922_337_203_685_477_580_700_000_000n],
  ['1e19', undefined],
  ['1e999999999', undefined],
  ['1e-999999999', 0n],
  ['0e999999999', 0n],
  ['Infinity', undefined],
  ['NaN', undefined],
] as const)('roundToUnits: "%s" with 8 decimals', (text, units) => {
  expect(roundToUnits(text, 8)).toBe(units)
})

test('roundToUnits: long texts take no time beyond their length', () => {
  const long = 1_000_000
  expect(roundToUnits(`1${' '.repeat(long)}1`, 8)).toBeUndefined()
  expect(roundToUnits(`0.${'0'.repeat(long)}1e${long + 1}`, 8)).toBe(100_000_000n)
})
