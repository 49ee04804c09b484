import { expect, test } from 'bun:test'
import type { Field, Order } from '#indices/define.ts'
import { stateIndices } from '#indices/registry.ts'
import { wealth } from '#indices/wealth.ts'
import { stateShapes } from '../schema/mappings.ts'
import { getStateIndex } from '../schema/names.ts'
import { toQuery } from './search-state.ts'
import { parseHeight } from './view.ts'

test('toQuery: a short tie is read from its start, and a long one is limited by a range of names', () => {
  const richest = { index: wealth, order: wealth.orders.richest, group: undefined }
  const range = { after: { amount: 9n, name: 'm' }, until: { amount: 9n, name: 'p' } }
  const toFilters = (tied: number) => toQuery(richest, { ...range, tied }).query.bool.filter.slice(1)
  const tie = { range: { value: { gte: '9', lte: '9' } } }
  expect(toFilters(0)).toEqual([tie])
  expect(toFilters(Number.POSITIVE_INFINITY)).toEqual([tie, { range: { member: { gt: 'm', lte: 'p' } } }])
})

test('toQuery, stateShapes: each counted order is the sort on disk', () => {
  const { sort } = stateShapes.state.settings.index
  for (const index of stateIndices) {
    const [order] = Object.values<Order>(index.orders)
    if (!order?.counted) continue
    const asked = toQuery({ index, order, group: order.group && 'x' }).sort.flatMap(Object.entries)
    const stored = { field: asked.map(([field]) => field), order: asked.map(([, direction]) => direction) }
    expect<unknown>([index.name, sort]).toEqual([index.name, stored])
  }
})

test('stateShapes: mapped fields of one name have one type in all kinds', () => {
  const { properties } = stateShapes.state.mappings
  for (const index of stateIndices)
    for (const [name, { kind }] of Object.entries<Field>(index.fields)) {
      const type = properties[name]?.type
      if (type !== undefined && getStateIndex(index) === 'state')
        expect([index.name, name, type]).toEqual([index.name, name, kind === 'bool' ? 'boolean' : 'long'])
    }
})

test('parseHeight: ids of history begin with the height', () => {
  const ids = ['000000000007', '000000000007-00001', '000000000012-00001-00002', '', '7', '0000000000071', 'x']
  expect(ids.map(parseHeight)).toEqual([7, 7, 12, undefined, undefined, undefined, undefined])
})
