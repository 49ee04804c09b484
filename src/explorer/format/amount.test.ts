import { expect, test } from 'bun:test'
import { firstDue } from './amount.ts'

test.each([
  [[], []],
  [['7'], ['7']],
  [
    ['8', '7', '7'],
    ['7', '7'],
  ],
  // Nanosecond times exceed the exact range of a double, and texts of other lengths do not sort as numbers.
  [['1700000000000000002', '1700000000000000001', '1700000000000000003'], ['1700000000000000001']],
  [['1700000000000000002', '900000000000000000'], ['900000000000000000']],
])('first due: of %j it is %j', (times, due) => {
  expect(firstDue(times.map(time => ({ time }))).map(({ time }) => time)).toEqual(due)
})
