import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { blockDoc, recordDoc, transactionDoc } from '#test/store/suite/fixture.ts'
import { partitioning } from './partitioning.ts'

const BEGIN = { partition: 0, documents: 0 }

/** Documents of a block with so many records and one transaction. */
const documentsOf = (height: number, rows: number) => ({
  block: blockDoc(height),
  transactions: [transactionDoc(height, 1)],
  records: Array.from({ length: rows }, (_, index) => recordDoc(height, index)),
})

test('partitioning: a partition ends with the block that fills it, the next block opens the next one', () => {
  const partitions = partitioning({ filling: BEGIN, documents: 7 })
  const course = [3, 0, 0, 9, 0].map((rows, height) => {
    const partition = partitions.next()
    partitions.add(documentsOf(height, rows))
    return [partition, partitions.filling(), partitions.full()]
  })
  expect(course).toEqual([
    [0, { partition: 0, documents: 5 }, false],
    [0, { partition: 0, documents: 7 }, true],
    [1, { partition: 1, documents: 2 }, false],
    [1, { partition: 1, documents: 13 }, true],
    [2, { partition: 2, documents: 2 }, false],
  ])
})

test('partitioning: goes on from any checkpoint as if there had been none', () => {
  const rows = fc.array(fc.nat(20), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 60 }), fc.nat(40), (blocks, partitionDocuments, stop) => {
      const follow = (filling: typeof BEGIN, from: number, to: number) => {
        const partitions = partitioning({ filling, documents: partitionDocuments })
        const numbers = blocks.slice(from, to).map((count, at) => {
          const number = partitions.next()
          partitions.add(documentsOf(from + at, count))
          return number
        })
        return { numbers, filling: partitions.filling() }
      }
      const whole = follow(BEGIN, 0, blocks.length)
      const first = follow(BEGIN, 0, stop)
      const rest = follow(first.filling, stop, blocks.length)
      expect([...first.numbers, ...rest.numbers]).toEqual(whole.numbers)
      expect(rest.filling).toEqual(whole.filling)
    }),
  )
})

test('partitioning: a store in one piece has partition 0 only', () => {
  const partitions = partitioning(undefined)
  for (let height = 0; height < 50; height++) partitions.add(documentsOf(height, 20))
  expect([partitions.next(), partitions.full()]).toEqual([0, false])
})
