import { expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { stateIndices } from '#indices/registry.ts'
import { wealth } from '#indices/wealth.ts'
import { shapeOf } from './mappings.ts'
import { queryOf } from './rank.ts'
import { heightOf } from './view.ts'

test('queryOf: group and a positive amount as filters; the group sorts first', () => {
  expect(queryOf(balances.orders.holders, 'iost')).toEqual({
    query: { bool: { filter: [{ term: { token: 'iost' } }, { range: { amount: { gt: '0' } } }] } },
    sort: [{ token: 'asc' }, { amount: 'desc' }, { owner: 'asc' }],
  })
})

test('queryOf: one of several amounts is enough', () => {
  expect(queryOf(balances.orders.ofOwner, 'alice').query).toEqual({
    bool: {
      filter: [
        { term: { owner: 'alice' } },
        {
          bool: {
            should: [{ range: { amount: { gt: '0' } } }, { range: { frozen: { gt: '0' } } }],
            minimum_should_match: 1,
          },
        },
      ],
    },
  })
})

test('queryOf: after a standing come smaller amounts, and later names of the same', () => {
  expect(queryOf(wealth.orders.richest, undefined, { amount: 2n ** 63n - 1n, name: 'm' }).query).toEqual({
    bool: {
      filter: [
        { range: { total: { gt: '0' } } },
        { range: { total: { lte: '9223372036854775807' } } },
        {
          bool: {
            should: [{ range: { total: { lt: '9223372036854775807' } } }, { range: { owner: { gt: 'm' } } }],
            minimum_should_match: 1,
          },
        },
      ],
    },
  })
})

test('queryOf: no group, no condition', () => {
  expect(queryOf({ by: wealth.orders.richest.by }, undefined)).toEqual({
    query: { match_all: {} },
    sort: [{ total: 'desc' }, { owner: 'asc' }],
  })
})

test('queryOf, shapeOf: the first order of every index is read in the order it lies on disk', () => {
  for (const index of stateIndices) {
    const [order] = Object.values(index.orders)
    const { sort } = shapeOf(index).settings.index
    const asked = order === undefined ? undefined : queryOf(order, 'x').sort.flatMap(Object.entries)
    expect<unknown>(sort).toEqual(
      asked && { field: asked.map(([field]) => field), order: asked.map(([, direction]) => direction) },
    )
  }
})

test('heightOf: ids of history begin with it', () => {
  const ids = [
    '000000000007',
    '000000000007-00001',
    '000000000012-00001-00002',
    '',
    '7',
    '0000000000071',
    'x',
  ]
  expect(ids.map(heightOf)).toEqual([7, 7, 12, undefined, undefined, undefined, undefined])
})
