import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { byName, count, exact, rowsOf, shape, sourced, text } from '#actions/shape/results.ts'
import { fieldsOf } from './schema-fields.ts'

test('fieldsOf: every field with its place, type and texts', () => {
  const schema = shape({
    name: text('Name.', '名称。'),
    rows: rowsOf(shape({ n: count('N.', '数。'), extra: Type.Optional(Type.Unknown()) }), 'Rows.', '行。'),
    keyed: byName(shape({ amount: exact('Amount.', '数量。') }), 'By name.', '按名称。'),
    inner: shape({ price: sourced('Price.', '价格。') }),
    tags: rowsOf(Type.String(), 'Tags.', '标签。'),
  })
  const row = (path: string, type: string, en?: string, zh?: string) => ({
    path,
    type,
    optional: false,
    exact: false,
    description: en === undefined || zh === undefined ? undefined : { en, zh },
  })
  expect(fieldsOf(schema)).toEqual([
    row('name', 'string', 'Name.', '名称。'),
    row('rows', 'array', 'Rows.', '行。'),
    row('rows[].n', 'integer', 'N.', '数。'),
    { ...row('rows[].extra', 'any'), optional: true },
    row('keyed', 'object', 'By name.', '按名称。'),
    { ...row('keyed.{}.amount', 'number', 'Amount.', '数量。'), exact: true },
    row('inner', 'object'),
    { ...row('inner.price', 'number | null', 'Price.', '价格。'), exact: true },
    row('tags', 'array', 'Tags.', '标签。'),
  ])
})
