import { expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { stateIndices } from '#indices/registry.ts'
import { LAST_NAME } from '#indices/standing.ts'
import { wealth } from '#indices/wealth.ts'
import type { RankRange } from '#store/ranking-start.ts'
import { shapeOf } from '../schema/mappings.ts'
import { queryOf } from './ranking.ts'
import { heightOf } from './view.ts'

test('queryOf: group and positive amount are filters, and the group is the first sort key', () => {
  expect(queryOf(balances.orders.holders, 'iost')).toEqual({
    query: { bool: { filter: [{ term: { token: 'iost' } }, { range: { amount: { gt: '0' } } }] } },
    sort: [{ token: 'asc' }, { amount: 'desc' }, { owner: 'asc' }],
  })
})

test('queryOf: one positive amount of several is enough', () => {
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

const filtersOf = (range: Partial<RankRange>) =>
  queryOf(wealth.orders.richest, undefined, { tied: 0, ...range }).query.bool?.filter

test('queryOf: a range selects the amounts between its ends', () => {
  const most = 2n ** 63n - 1n
  expect(filtersOf({})).toEqual([{ range: { total: { gt: '0' } } }])
  expect(filtersOf({ until: { amount: 7n, name: 'm' } })).toEqual([{ range: { total: { gte: '7' } } }])
  expect(filtersOf({ after: { amount: most, name: LAST_NAME }, until: { amount: 7n, name: LAST_NAME } })).toEqual([
    { range: { total: { gte: '7', lt: '9223372036854775807' } } },
  ])
})

test('queryOf: a short tie is read from its start', () => {
  expect(filtersOf({ after: { amount: 9n, name: 'm' }, until: { amount: 7n, name: 'a' } })).toEqual([
    { range: { total: { gte: '7', lte: '9' } } },
  ])
})

test('queryOf: a long tie is limited by a range of names', () => {
  const [after, tied] = [{ amount: 9n, name: 'm' }, Number.POSITIVE_INFINITY]
  expect(filtersOf({ after, tied, until: { amount: 9n, name: 'p' } })).toEqual([
    { range: { total: { gte: '9', lte: '9' } } },
    { range: { owner: { gt: 'm', lte: 'p' } } },
  ])
  for (const until of [
    { amount: 7n, name: 'p' },
    { amount: 9n, name: LAST_NAME },
  ])
    expect(filtersOf({ after, tied, until })).toEqual([
      { range: { total: { gte: String(until.amount), lte: '9' } } },
      {
        bool: {
          should: [{ range: { total: { lt: '9' } } }, { range: { owner: { gt: 'm' } } }],
          minimum_should_match: 1,
        },
      },
    ])
})

test('queryOf: without group and amounts there is no condition', () => {
  expect(queryOf({ by: wealth.orders.richest.by }, undefined)).toEqual({
    query: { match_all: {} },
    sort: [{ total: 'desc' }, { owner: 'asc' }],
  })
})

test('queryOf, shapeOf: the first order of every index is its sort on disk', () => {
  for (const index of stateIndices) {
    const [order] = Object.values(index.orders)
    const { sort } = shapeOf(index).settings.index
    const asked = order === undefined ? undefined : queryOf(order, 'x').sort.flatMap(Object.entries)
    expect<unknown>(sort).toEqual(
      asked && { field: asked.map(([field]) => field), order: asked.map(([, direction]) => direction) },
    )
  }
})

test('heightOf: ids of history begin with the height', () => {
  const ids = ['000000000007', '000000000007-00001', '000000000012-00001-00002', '', '7', '0000000000071', 'x']
  expect(ids.map(heightOf)).toEqual([7, 7, 12, undefined, undefined, undefined, undefined])
})
