import { Type } from '@sinclair/typebox'
import { toDay } from '#chain/time.ts'
import { producers } from '#indices/producer.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { createOrderListing } from './find/listing.ts'
import { DAYS_OF_CHANGE, getOpeningVotes } from './find/producer-votes.ts'
import { defineList } from './list/paging.ts'
import { paging, sort } from './request/parameter-types.ts'
import { count, exact, flag, listOfRows, shape, text } from './shape/results.ts'
import { nameProducerStatus, producerStatus, toIost } from './shape/values.ts'

const producerRow = shape({
  account: text('Account name of the producer.', '生产者的账户名。'),
  alias: text("Name. From the operator's profile file.", '名称。来自运营者的资料文件。'),
  alias_en: text("Name in English. From the operator's profile file.", '英文名称。来自运营者的资料文件。'),
  ranking: count(
    'Rank among registered producers, by votes, then by account name.',
    '在已注册生产者中按票数的排名，票数相同时按账户名排列。',
  ),
  votes: exact('Votes, in IOST.', '票数（IOST）。'),
  votes_change_7d: exact(
    'Change in votes over seven UTC days, the day of the last published block included, in IOST: current votes minus votes at the beginning of the first of these days; negative if votes were lost.',
    '七个 UTC 日内的票数变化（IOST），含最新已发布区块所在日期：当前票数减去首日开始时的票数；票数减少时为负数。',
  ),
  voter_count: count('Number of accounts that vote for the producer.', '为该生产者投票的账户数。'),
  status: producerStatus(),
  online: flag('Whether the producer is logged in.', '是否在线。'),
  isProducer: flag('Whether the producer is a candidate for block production.', '是否参与出块竞选。'),
  block_count: count('Number of blocks the producer signed.', '出块数。'),
  received_award: exact('IOST received as rewards for blocks and votes.', '已获得的出块奖励与投票奖励（IOST）。'),
  loc: text('Registered location.', '登记的地区。'),
  url: text('Registered URL.', '登记的网址。'),
})

/** Every registered producer. */
export const getProducerList = defineList({
  module: 'base',
  action: 'get-producer-list',
  title: { en: 'Producers', zh: '生产者列表' },
  summary: {
    en: "All registered producers, sorted by votes, most first, then by account name; sort=asc returns the exact reverse. alias and alias_en come from the operator's profile file and are empty without one. Producers that are no longer registered are left out.",
    zh: '全部已注册的生产者，按票数从多到少排列，票数相同时按账户名排列；sort=asc 时顺序完全相反。alias 与 alias_en 来自运营者的资料文件，未提供时为空。已注销的生产者不列入。',
  },
  params: Type.Object({
    ...paging,
    sort: sort({
      en: 'desc returns the producer with the most votes first, asc the exact reverse.',
      zh: 'desc 票数最多的在前；asc 顺序完全相反。',
    }),
  }),
  result: listOfRows('producers', producerRow, { en: 'Producers of this page.', zh: '生产者列表。' }),
  list: 'producers',
  source: {
    state: [producers, statistics],
    open: async ({ view, profiles }, { sort: direction }) => {
      const total = (await view.get(statistics, STATISTICS))?.producer_count ?? 0
      const first = toDay(view.at.time) - DAYS_OF_CHANGE + 1
      const order = { index: producers, order: 'ranked' } as const
      return createOrderListing({ ...order, sort: direction }, total, (doc, rank) => ({
        account: doc.account,
        alias: profiles.get(doc.account)?.alias ?? '',
        alias_en: profiles.get(doc.account)?.alias_en ?? '',
        ranking: rank,
        votes: toIost(doc.votes),
        votes_change_7d: toIost(doc.votes - getOpeningVotes(doc, first)),
        voter_count: doc.voter_count,
        status: nameProducerStatus(doc),
        online: doc.online,
        isProducer: doc.is_producer,
        block_count: doc.block_count,
        received_award: toIost(doc.received_award),
        loc: doc.loc,
        url: doc.url,
      }))
    },
  },
  fails: [],
  example: { page: '1', size: '10' },
})
