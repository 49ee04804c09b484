import { expect, test } from 'bun:test'
import { backoffMs } from './backoff.ts'

test('backoffMs: the pause doubles from the shortest to the longest, at any number of failures', () => {
  const bounds = { firstMs: 250, longestMs: 15_000, part: { from: 0.75, to: 1.25 } }
  expect([1, 2, 3, 6, 7, 8, 1_001].map(failures => backoffMs(bounds, failures, 0.5))).toEqual([
    250, 500, 1_000, 8_000, 15_000, 15_000, 15_000,
  ])
  expect([0, 0.999].map(random => Math.round(backoffMs(bounds, 4, random)))).toEqual([1_500, 2_499])
})

test('backoffMs: by default half of a pause is random', () => {
  const bounds = { firstMs: 100, longestMs: 10_000 }
  expect([0, 0.5, 0.999].map(random => Math.round(backoffMs(bounds, 2, random)))).toEqual([100, 150, 200])
})
