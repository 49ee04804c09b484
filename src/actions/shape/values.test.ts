import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { plainNumber, toDouble, toIost } from './values.ts'

test.each([
  ['1e-7', '0.0000001'],
  ['1.5e-7', '0.00000015'],
  ['1e+21', '1000000000000000000000'],
  ['-2.50E3', '-2500'],
  ['1.25e1', '12.5'],
  ['0e5', '0'],
  ['12.5', '12.5'],
  ['text', 'text'],
])('plainNumber: %s is %s', (text, expected) => {
  expect(plainNumber(text)).toBe(expected)
})

test('doubleOf: every finite double keeps its value and has no exponent', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
      const { text } = toDouble(value)
      return /^-?\d+(?:\.\d+)?$/.test(text) && Number(text) === value
    }),
  )
})

test('iostOf: all digits of an int64 are kept', () => {
  expect(toIost(2n ** 63n - 1n).text).toBe('92233720368.54775807')
})
