import { expect, test } from 'bun:test'
import { highestPossible } from './time.ts'

const START = 1_600_000_000
const known = { height: 100, time: BigInt(START) * 1_000_000_000n }

test('highestPossible: the limit is two blocks a second, and a thousand more for clock differences', () => {
  expect(highestPossible(known, START * 1_000)).toBe(1_100)
  expect(highestPossible(known, (START + 3_600) * 1_000)).toBe(100 + 7_200 + 1_000)
})

test('highestPossible: a clock behind the chain gives no limit', () => {
  expect(highestPossible(known, START * 1_000 - 1)).toBe(Number.POSITIVE_INFINITY)
})
