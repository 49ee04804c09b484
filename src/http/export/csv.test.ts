import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Exact, RawJson } from '#chain/json.ts'
import { readCsv } from '#test/support/read-csv.ts'
import { csvHead, csvRows } from './csv.ts'

const hostile = fc.oneof(
  fc.string({
    unit: fc.constantFrom('"', ',', '\r', '\n', '\t', ' ', 'a', '=', "'", ';', '\u{1f600}', '\0'),
  }),
  fc.string({ unit: 'grapheme' }),
)

test('csv: texts of any kind are read back, cell by cell', () =>
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, hostile, hostile), { maxLength: 8 }), table => {
      const columns = ['one', 'two "and"', 'three,\r\n']
      const rows = table.map(cells => Object.fromEntries(columns.map((name, at) => [name, cells[at]])))
      expect(readCsv(csvHead(columns) + csvRows({ rows }, columns))).toEqual([columns, ...table])
    }),
  ))

test('csv: a single value, also an empty one, is one record', () =>
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 8 }), rows => {
      expect(readCsv(csvRows({ rows }, undefined))).toEqual(rows.map(row => [row]))
    }),
  ))

test('csv: numbers have all digits, arrays and objects are JSON text, and absent values are empty', () => {
  const row = {
    exact: new Exact('90071992547409931234.00000001'),
    count: 12,
    flag: false,
    none: null,
    list: ['a', new Exact('1.10'), { deep: '"' }],
    raw: new RawJson('[9007199254740993]'),
    by: new Map([['__proto__', 1n]]),
  }
  const columns = ['exact', 'count', 'flag', 'none', 'missing', 'list', 'raw', 'by']
  expect(readCsv(csvRows({ rows: [row] }, columns))).toEqual([
    [
      '90071992547409931234.00000001',
      '12',
      'false',
      '',
      '',
      '["a",1.10,{"deep":"\\""}]',
      '[9007199254740993]',
      '{"__proto__":1}',
    ],
  ])
})

test('csv: the data of a row is in its column as unchanged JSON text', () => {
  const rows = [
    { a: 1, data: '' },
    { a: 2, data: '' },
  ]
  const data = [new RawJson('["x, \\"y\\""]'), 'plain "text"']
  expect(readCsv(csvRows({ rows, data }, ['a', 'data']))).toEqual([
    ['1', '["x, \\"y\\""]'],
    ['2', 'plain "text"'],
  ])
})
