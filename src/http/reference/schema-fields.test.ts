import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { byName, count, defineRows, exact, shape, sourced, text } from '#actions/shape/results.ts'
import { listFieldRows } from './schema-fields.ts'

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
