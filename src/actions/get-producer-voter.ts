import { Type } from '@sinclair/typebox'
import { producers } from '#indices/producer.ts'
import { series } from '#indices/series.ts'
import { votes } from '#indices/vote.ts'
import { asRows, createMemoryListing, createOrderListing } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { readPastVoters } from './find/past-ranking.ts'
import { findMoment } from './find/point.ts'
import { defineList } from './list/paging.ts'
import { pageIfAsked, producer, sizeIfAsked } from './request/parameter-types.ts'
import { checkPoint, hasPoint, point } from './request/range.ts'
import { exact, listOfRows, pointFields, pointShown, shape, text } from './shape/results.ts'
import { toIost } from './shape/values.ts'

const voterRow = shape({
  account: text('Account or contract of the voter.', '投票者（账户或合约）。'),
  votes: exact('Votes, in IOST.', '票数（IOST）。'),
})

/** The voters of a producer. */
export const getProducerVoter = defineList({
  module: 'producer',
  action: 'get-producer-voter',
  title: { en: 'Voters of a producer', zh: '生产者的投票者' },
  summary: {
    en: 'Voters of a producer, sorted by votes, largest first, then by name. Without page and size, the complete list is returned. Also works for producers that are no longer registered. With at_block or at_time they are the voters of that point. The parameter may also be named account.',
    zh: '为该生产者投票的账户与合约，按票数从大到小排列，票数相同时按名称排列。不提供 page 和 size 时返回完整列表。已注销的生产者也可查询。提供 at_block 或 at_time 时为当时的投票者。参数名也可写作 account。',
  },
  params: Type.Object({
    producer: producer(['account']),
    page: pageIfAsked(),
    size: sizeIfAsked(),
    ...point,
  }),
  check: checkPoint,
  result: shape({
    ...listOfRows('voters', voterRow, { en: 'Voters.', zh: '投票者列表。' }).properties,
    ...pointFields,
  }),
  list: 'voters',
  source: {
    state: [votes, producers, series],
    open: async (context, { producer: account, ...asked }) => {
      const found = await context.view.get(producers, account)
      if (found === undefined) throw unknown(context, 'producer', account)
      const then = hasPoint(asked) ? await findMoment(context, asked) : undefined
      if (then !== undefined)
        return {
          ...createMemoryListing(await readPastVoters(context, account, then.height), ([voter, units]) => ({
            account: voter,
            votes: toIost(units),
          })),
          beside: pointShown(then),
          heights: [then.height],
        }
      const order = { index: votes, order: 'voters', group: account } as const
      return asRows(
        createOrderListing(order, found.voter_count, doc => ({ account: doc.voter, votes: toIost(doc.votes) })),
      )
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { producer: 'producer000' },
})
