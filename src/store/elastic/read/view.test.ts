import { expect, test } from 'bun:test'
import { listRowPartitions } from './view.ts'

test('partitions of rows: the partitions with some of the rows are returned', () => {
  const starts = [
    [0, 1],
    [2, 11],
    [5, 12],
  ] as const
  const of = (first: number, last: number) => listRowPartitions(starts, first, last)
  expect([of(1, 10), of(10, 11), of(11, 11), of(12, 99), of(1, 99)]).toEqual([[0], [0, 2], [2], [5], [0, 2, 5]])
})
