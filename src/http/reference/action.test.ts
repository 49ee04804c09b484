import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import { byName, count, defineRows, exact, shape, sourced, text } from '#actions/shape/results.ts'
import { parseExact } from '#chain/json.ts'
import { exampleText, listFieldRows } from './action.ts'

test('fieldsOf: every field has its path, type and texts', () => {
  const schema = shape({
    name: text('Name.', '名称。'),
    rows: defineRows(shape({ n: count('N.', '数。'), extra: Type.Optional(Type.Unknown()) }), 'Rows.', '行。'),
    keyed: byName(shape({ amount: exact('Amount.', '数量。') }), 'By name.', '按名称。'),
    inner: shape({ price: sourced('Price.', '价格。') }),
    tags: defineRows(Type.String(), 'Tags.', '标签。'),
  })
  const row = (path: string, type: string, description?: { readonly en: string; readonly zh: string }) => ({
    path,
    type,
    optional: false,
    exact: false,
    description,
  })
  expect(listFieldRows(schema)).toEqual([
    row('name', 'string', { en: 'Name.', zh: '名称。' }),
    row('rows', 'array', { en: 'Rows.', zh: '行。' }),
    row('rows[].n', 'integer', { en: 'N.', zh: '数。' }),
    { ...row('rows[].extra', 'any'), optional: true },
    row('keyed', 'object', { en: 'By name.', zh: '按名称。' }),
    { ...row('keyed.{}.amount', 'number', { en: 'Amount.', zh: '数量。' }), exact: true },
    row('inner', 'object'),
    { ...row('inner.price', 'number | null', { en: 'Price.', zh: '价格。' }), exact: true },
    row('tags', 'array', { en: 'Tags.', zh: '标签。' }),
  ])
})

const row = (n: number) => ({ seq: n, amount: '1.5', from: 'a', to: 'b', memo: null })

test('exampleText: a short answer is complete, with every digit', () => {
  const { text, isShorter } = exampleText('{"data":{"rows":[{"big":9007199254740993}],"total":1}}')
  expect(isShorter).toBe(false)
  expect(text).toContain('"big": 9007199254740993')
})

test('exampleText: a long list keeps its first rows and the fields after it', () => {
  const rows = Array.from({ length: 50 }, (_, n) => row(n))
  const { text, isShorter } = exampleText(JSON.stringify({ data: { rows, page: 1, size: 50, total: 99 } }))
  expect(isShorter).toBe(true)
  const { data } = JSON.parse(text)
  expect(data).toEqual({ rows: rows.slice(0, 5), page: 1, size: 50, total: 99 })
})

test('exampleText: a long text is cut within its quotes', () => {
  const { text, isShorter } = exampleText(JSON.stringify({ code: `"${'x'.repeat(5_000)}` }))
  expect(isShorter).toBe(true)
  expect(JSON.parse(text).code).toBe(`"${'x'.repeat(199)}…`)
})

test('exampleText: any answer gives valid JSON', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5, stringUnit: 'binary' }), json => {
      const { text, isShorter } = exampleText(json)
      expect(() => JSON.parse(text)).not.toThrow()
      if (!isShorter) expect(parseExact(text)).toEqual(parseExact(json))
    }),
  )
})
