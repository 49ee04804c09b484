import { expect, test } from 'bun:test'
import { computeDividendRate, computeRank } from './producer-votes.ts'

const IOST = 10n ** 8n
const PAYOUTS = [
  [70, String(1000n * IOST)],
  [71, String(3n * IOST)],
  [100, String(5n * IOST)],
  [101, String(7000n * IOST)],
] as const

test.each([
  // Thirty days, including the current one: (3 + 5) ÷ 1000 × 365 ÷ 30.
  [1000n * IOST, PAYOUTS, 100, 9_733_333n],
  [0n, [[1, '5']], 1, 0n],
  // 3 × 365 ÷ 30 = 36.5; divided by 73 × 10^8 votes this is half of 10^-8, which is rounded up.
  [73n * IOST, [[1, '3']], 1, 1n],
  [73n * IOST + 1n, [[1, '3']], 1, 0n],
] as const)('computeDividendRate: %p votes, payouts %p on day %p: %p', (...[votes, payouts, today, rate]) => {
  expect(computeDividendRate({ votes, payouts }, today)).toBe(rate)
})

test('computeRank: accounts are ordered by figure, then by name', () => {
  const all = Object.entries({ b: 5n, a: 5n, c: 9n }).map(([account, votes]) => ({ account, votes }))
  expect(all.map(one => computeRank(all, one, ({ votes }) => votes))).toEqual([3, 2, 1])
})
