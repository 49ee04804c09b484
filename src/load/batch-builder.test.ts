import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { blockDoc, publishedAt, recordDoc, transactionDoc } from '#test/store/suite/fixture.ts'
import { batchBuilder } from './batch-builder.ts'

const ANY = Number.POSITIVE_INFINITY
const filling = { partition: 0, documents: 0 }
/** A block with so many transactions and rows. */
const documentsOf = (height: number, rows: number) => ({
  block: blockDoc(height),
  transactions: Array.from({ length: rows }, (_, at) => transactionDoc(height, at + 1)),
  records: Array.from({ length: rows }, (_, at) => recordDoc(height, at)),
})

test('batchBuilder: pieces are the batch, each document once, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { minLength: 1 }), fc.integer({ min: 1, max: 20 }), (rows, documents) => {
      const builder = batchBuilder({ documents: ANY, bytes: ANY, piece: { documents, bytes: ANY } })
      const given = rows.map((count, height) => documentsOf(height, count))
      const taken = given.flatMap(each => {
        builder.add(each)
        return builder.pieceFull ? [builder.takePiece(filling)] : []
      })
      const rest = builder.takePiece(filling)
      for (const piece of taken) {
        const size = piece.blocks.length + piece.transactions.length + piece.records.length
        expect(size).toBeGreaterThanOrEqual(documents)
      }
      const parts = [...taken, rest]
      expect(parts.flatMap(({ blocks }) => blocks)).toEqual(given.map(({ block }) => block))
      expect(parts.flatMap(({ transactions }) => transactions)).toEqual(
        given.flatMap(({ transactions }) => transactions),
      )
      expect(parts.flatMap(({ records }) => records)).toEqual(given.flatMap(({ records }) => records))
      const end = publishedAt(rows.length - 1)
      expect([parts.find(({ blocks }) => blocks[0])?.blocks[0]?.height, builder.end(end.lib)]).toEqual([
        0,
        end,
      ])
      const sum = rows.reduce((a, b) => a + b, 0)
      expect([builder.transactions, builder.records]).toEqual([sum, sum])
    }),
  )
})

test('batchBuilder: is full by documents, held or not, by bytes, or by the state it changes', () => {
  const builder = batchBuilder({ documents: 6, bytes: ANY, changes: 10, piece: { documents: 1, bytes: ANY } })
  builder.add(documentsOf(0, 1))
  builder.takePiece(filling)
  expect([builder.full(9), builder.full(10), builder.empty]).toEqual([false, true, false])
  builder.add(documentsOf(1, 1))
  expect(builder.full(0)).toBe(true)
  const small = batchBuilder({ documents: ANY, bytes: 1 })
  expect([small.empty, small.full(0)]).toEqual([true, false])
  small.add(documentsOf(0, 0))
  expect([small.full(0), small.pieceFull]).toEqual([true, false])
})
