import { expect, test } from 'bun:test'
import { spread } from './audit.ts'

const sampled = (last: number, count: number): readonly number[] =>
  Array.from({ length: last + 1 }, (_, height) => height).filter(spread(last, count))

test('spread: the sample has the given size and contains the first and the last', () => {
  expect(sampled(99, 4)).toEqual([0, 25, 50, 75, 99])
  expect(sampled(3, 1)).toEqual([0, 3])
})

test('spread: a sample may be empty or complete', () => {
  expect(sampled(99, 0)).toEqual([])
  expect(sampled(3, 1_000)).toEqual([0, 1, 2, 3])
})
