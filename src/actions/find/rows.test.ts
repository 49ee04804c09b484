import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Exact, RawJson } from '#chain/json.ts'
import { jsonRows } from './rows.ts'

const hostile = fc.string({
  unit: fc.constantFrom('"', '}', '{', ',', '[', ']', ':', '\\', 'data', '"data":""', '},{"', '\n'),
})

test('jsonRows: rows with any texts are read back, each with its own data', () =>
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: hostile, data: fc.constant(''), z: hostile }), { maxLength: 6 }),
      fc.array(fc.tuple(fc.boolean(), hostile), { minLength: 6, maxLength: 6 }),
      (rows, texts) => {
        const data = texts.map(([isRaw, text]) => (isRaw ? new RawJson(JSON.stringify([text])) : text))
        const expected = rows.map((row, at) => {
          const [isRaw, text = ''] = texts[at] ?? []
          return { ...row, data: isRaw ? [text] : text }
        })
        expect(jsonRows({ rows, data }).map(row => JSON.parse(row))).toEqual(expected)
      },
    ),
  ))

test('jsonRows: without data a row is written as in an answer', () => {
  const row = { amount: new Exact('9007199254740993.1'), gone: undefined }
  expect(jsonRows({ rows: [row, 'x'] })).toEqual(['{"amount":9007199254740993.1}', '"x"'])
  expect(jsonRows({ rows: [row] }, { numbers: 'string' })).toEqual(['{"amount":"9007199254740993.1"}'])
})
