import { expect, test } from 'bun:test'
import { batchOf } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { addPartition, findPartition } from './names.ts'

test('a partition by height: the last partition that begins at or before the height is returned', () => {
  expect([0, 9, 10, 19, 20, 1e9].map(height => findPartition([0, 10, 20], height))).toEqual([0, 0, 1, 1, 2, 2])
  expect(findPartition([0], 5)).toBe(0)
})

test('partitions of a list: only the last or the next partition is accepted', async () => {
  const partitions = [0, 10]
  const batchTo = (partition: number) => batchOf(20, 25, { filling: { partition, documents: 6 } })
  expect(addPartition(partitions, batchTo(1))).toBe(partitions)
  expect(addPartition(partitions, batchTo(2))).toEqual([0, 10, 20])
  for (const other of [0, 3]) {
    const refused = await failureOf((async () => addPartition(partitions, batchTo(other)))())
    expect([refused.kind, refused.message]).toEqual([
      'defect',
      `Batch from block 20 belongs to partition ${other}, but the last one is 1.`,
    ])
  }
})
