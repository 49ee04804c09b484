import { expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import type { Field, Order } from '#indices/define.ts'
import { pledges } from '#indices/pledge.ts'
import { producers } from '#indices/producer.ts'
import { stateIndices } from '#indices/registry.ts'
import { LAST_NAME } from '#indices/standing.ts'
import { votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import type { RankRange } from '#store/ranking.ts'
import { stateShapes } from '../schema/mappings.ts'
import { getStateIndex } from '../schema/names.ts'
import { toQuery } from './search-state.ts'
import { parseHeight } from './view.ts'

test('queryOf: kind, group and positive amount are filters, and kind and group are the first sort keys', () => {
  expect(toQuery({ index: balances, order: balances.orders.holders, group: 'iost' })).toEqual({
    query: {
      bool: {
        filter: [{ term: { kind: 'balances' } }, { term: { group: 'iost' } }, { range: { value: { gt: '0' } } }],
      },
    },
    sort: [{ kind: 'asc' }, { group: 'asc' }, { value: 'desc' }, { member: 'asc' }],
  })
})

test('queryOf: one positive amount of several is enough', () => {
  expect(toQuery({ index: balances, order: balances.orders.ofOwner, group: 'alice' }).query).toEqual({
    bool: {
      filter: [
        { term: { kind: 'balances' } },
        { term: { member: 'alice' } },
        {
          bool: {
            should: [{ range: { value: { gt: '0' } } }, { range: { frozen: { gt: '0' } } }],
            minimum_should_match: 1,
          },
        },
      ],
    },
  })
})

const richest = { index: wealth, order: wealth.orders.richest, group: undefined }

/** The filters beside that of the kind. */
const filtersOf = (range: Partial<RankRange>) => toQuery(richest, { tied: 0, ...range }).query.bool.filter.slice(1)

test('queryOf: a range selects the amounts between its ends', () => {
  const most = 2n ** 63n - 1n
  expect(filtersOf({})).toEqual([{ range: { value: { gt: '0' } } }])
  expect(filtersOf({ until: { amount: 7n, name: 'm' } })).toEqual([{ range: { value: { gte: '7' } } }])
  expect(filtersOf({ after: { amount: most, name: LAST_NAME }, until: { amount: 7n, name: LAST_NAME } })).toEqual([
    { range: { value: { gte: '7', lt: '9223372036854775807' } } },
  ])
})

test('queryOf: a short tie is read from its start', () => {
  expect(filtersOf({ after: { amount: 9n, name: 'm' }, until: { amount: 7n, name: 'a' } })).toEqual([
    { range: { value: { gte: '7', lte: '9' } } },
  ])
})

test('queryOf: a long tie is limited by a range of names', () => {
  const [after, tied] = [{ amount: 9n, name: 'm' }, Number.POSITIVE_INFINITY]
  expect(filtersOf({ after, tied, until: { amount: 9n, name: 'p' } })).toEqual([
    { range: { value: { gte: '9', lte: '9' } } },
    { range: { member: { gt: 'm', lte: 'p' } } },
  ])
  for (const until of [
    { amount: 7n, name: 'p' },
    { amount: 9n, name: LAST_NAME },
  ])
    expect(filtersOf({ after, tied, until })).toEqual([
      { range: { value: { gte: String(until.amount), lte: '9' } } },
      {
        bool: {
          should: [{ range: { value: { lt: '9' } } }, { range: { member: { gt: 'm' } } }],
          minimum_should_match: 1,
        },
      },
    ])
})

test('queryOf: an order that is not its kind’s first has its own sort, by the stored names of its fields', () => {
  expect(toQuery({ index: votes, order: votes.orders.ofVoter, group: 'a' }).sort).toEqual([
    { value: 'desc' },
    { group: 'asc' },
  ])
  expect(toQuery({ index: producers, order: producers.orders.all, group: undefined }).sort).toEqual([{ member: 'asc' }])
  expect(toQuery({ index: pledges, order: pledges.orders.ofPledger, group: 'a' }).sort).toEqual([{ seq: 'asc' }])
})

test('queryOf, stateShapes: each counted order is the sort on disk', () => {
  const { sort } = stateShapes.state.settings.index
  for (const index of stateIndices) {
    const [order] = Object.values<Order>(index.orders)
    if (!order?.counted) continue
    const asked = toQuery({ index, order, group: order.group && 'x' }).sort.flatMap(Object.entries)
    expect<unknown>([index.name, sort]).toEqual([
      index.name,
      { field: asked.map(([field]) => field), order: asked.map(([, direction]) => direction) },
    ])
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

test('heightOf: ids of history begin with the height', () => {
  const ids = ['000000000007', '000000000007-00001', '000000000012-00001-00002', '', '7', '0000000000071', 'x']
  expect(ids.map(parseHeight)).toEqual([7, 7, 12, undefined, undefined, undefined, undefined])
})
