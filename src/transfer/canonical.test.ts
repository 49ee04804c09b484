import { expect, test } from 'bun:test'
import type { Index } from '#indices/define.ts'
import { int, long, optional } from '#indices/fields.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { canonicalText } from './canonical.ts'

/** An index with three numeric fields, any of which may be absent. */
const numbers = {
  ...records,
  fields: { a: optional(long()), b: optional(int()), c: optional(long()) },
} satisfies Index as unknown as AnyIndex

test('canonicalText: an absent number is no sign of the next one', () => {
  const texts = [{ b: 5, c: -7n }, { a: -5n, c: 7n }, { a: 5n, b: -7 }, { a: 5n, c: -7n }, {}].map(doc =>
    canonicalText(numbers, { id: '1', ...doc }),
  )
  expect(new Set(texts).size).toBe(5)
})

const doc: RecordDoc = {
  ...{ id: '1', height: 1, tx: 2, index: 3, tx_hash: 'h', time: 4n, contract: 'c', action_name: 'a' },
  ...{ data: '[]', return: '', status_code: 'SUCCESS', from: 'f', to: 't', overflow: false, places: [5n] },
}

test('canonicalText: letters that move from a text to the one beside it change it', () => {
  const texts = [
    doc,
    { ...doc, from: 'ft', to: '' },
    { ...doc, from: '', to: 'ft' },
    { ...doc, amount: '' },
    { ...doc, creator: '' },
  ].map(each => canonicalText(records, each))
  expect(new Set(texts).size).toBe(5)
})
