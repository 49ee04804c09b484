import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Segment } from './segment.ts'
import { compareStandings, getSegmentStart, isEarlierSegment } from './standing.ts'

const amount = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -12n, max: 12n }))
const member = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'a', '\uffff', '😀'))
const standing = fc.record({ amount, name: member })

test('the order of standings: a segment and a standing compare as two standings do', () => {
  fc.assert(
    fc.property(standing, standing, (first, { amount, name }) => {
      const segment: Segment = [String(first.amount), first.name, 1]
      const expected = compareStandings(getSegmentStart(segment) ?? first, { amount, name }) < 0
      expect(isEarlierSegment(segment, { amount: String(amount), name })).toBe(expected)
    }),
    { numRuns: 1_000, seed: 1 },
  )
  expect(isEarlierSegment(['', '', 1], { amount: '9', name: 'a' })).toBe(true)
})
