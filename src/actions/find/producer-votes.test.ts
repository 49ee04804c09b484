import { expect, test } from 'bun:test'
import { computeDividendRate, computeRank } from './producer-votes.ts'

const IOST = 10n ** 8n

test('dividendRateOf: the rate covers thirty days, including the current one', () => {
  const payouts = [
    [70, String(1000n * IOST)],
    [71, String(3n * IOST)],
    [100, String(5n * IOST)],
    [101, String(7000n * IOST)],
  ] as const
  // (3 + 5) ÷ 1000 × 365 ÷ 30
  expect(computeDividendRate({ votes: 1000n * IOST, payouts }, 100)).toBe(9_733_333n)
})

test('dividendRateOf: the rate is 0 without votes', () => {
  expect(computeDividendRate({ votes: 0n, payouts: [[1, '5']] }, 1)).toBe(0n)
})

test('dividendRateOf: half a unit of the last digit is rounded up', () => {
  // 3 × 365 ÷ 30 = 36.5; divided by 73 × 10^8 votes this is 0.000000005, half of 10^-8.
  expect(computeDividendRate({ votes: 73n * 10n ** 8n, payouts: [[1, '3']] }, 1)).toBe(1n)
  expect(computeDividendRate({ votes: 73n * 10n ** 8n + 1n, payouts: [[1, '3']] }, 1)).toBe(0n)
})

test('placeIn: accounts are ordered by figure, then by name', () => {
  const all = [
    { account: 'b', votes: 5n },
    { account: 'a', votes: 5n },
    { account: 'c', votes: 9n },
  ]
  expect(all.map(one => computeRank(all, one, ({ votes }) => votes))).toEqual([3, 2, 1])
})
