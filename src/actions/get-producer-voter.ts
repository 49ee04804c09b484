import { Type } from '@sinclair/typebox'
import { producers } from '#indices/producer.ts'
import { votes } from '#indices/vote.ts'
import { defineAction } from './define.ts'
import { unknown } from './find/unknown.ts'
import { rawOf, wholeOf } from './list/paging.ts'
import { pageOfOrder, wholeOrder } from './list/whole-list.ts'
import { pageIfAsked, producer, SIZE_DEFAULT, sizeIfAsked } from './request/parameter-types.ts'
import { exact, listOfRows, shape, text } from './shape/results.ts'
import { iostOf } from './shape/values.ts'

const row = shape({
  account: text('Account or contract of the voter.', '投票者（账户或合约）。'),
  votes: exact('Votes, in IOST.', '票数（IOST）。'),
})

/** Who votes for a producer. */
export const getProducerVoter = defineAction({
  module: 'producer',
  action: 'get-producer-voter',
  title: { en: 'Voters of a producer', zh: '生产者的投票者' },
  summary: {
    en: 'Voters of a producer, sorted by votes, largest first, then by name. Without page and size, the complete list is returned. Also works for producers that are no longer registered. The parameter may also be named account.',
    zh: '为该生产者投票的账户与合约，按票数从大到小排列，票数相同时按名称排列。不提供 page 和 size 时返回完整列表。已注销的生产者也可查询。参数名也可写作 account。',
  },
  params: Type.Object({ producer: producer(['account']), page: pageIfAsked(), size: sizeIfAsked() }),
  result: listOfRows('voters', row, { en: 'Voters.', zh: '投票者列表。' }),
  list: 'voters',
  run: async (context, { producer: account, page, size }) => {
    const { view } = context
    const found = await view.get(producers, account)
    if (found === undefined) throw unknown(context, 'producer', account)
    const order = { index: votes, order: 'voters', group: account } as const
    if (page === undefined && size === undefined) {
      const docs = await wholeOrder(view, order)
      return wholeOf('voters', docs.map(rowOf))
    }
    const part = { page: page ?? 1n, size: size ?? SIZE_DEFAULT, total: found.voter_count }
    const docs = await pageOfOrder(view, order, part)
    return { voters: docs.map(rowOf), page: rawOf(part.page), size: part.size, total: part.total }
  },
  example: { producer: 'producer000' },
})

const rowOf = (doc: { readonly voter: string; readonly votes: bigint }) => ({
  account: doc.voter,
  votes: iostOf(doc.votes),
})
