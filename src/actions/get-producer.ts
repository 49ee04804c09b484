import { Type } from '@sinclair/typebox'
import { formatDate, toDay, toIso } from '#chain/time.ts'
import { type ProducerDoc, producers, VOTE_DAYS } from '#indices/producer.ts'
import { series } from '#indices/series.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { votes } from '#indices/vote.ts'
import type { View } from '#store/port.ts'
import { defineAction, type Profile } from './define.ts'
import { readBlock } from './find/blocks-at.ts'
import { genesisDay } from './find/days.ts'
import { createMemoryListing, createOrderListing, readWholeOrder, toRowListing } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { requireNamed } from './find/owner.ts'
import { readPastVoters } from './find/past-ranking.ts'
import { findMoment } from './find/point.ts'
import { buildWholeList, defineList } from './list/paging.ts'
import { paging, pagingIfAsked, producer, sort } from './request/parameter-types.ts'
import { checkPoint, hasPoint, point } from './request/range.ts'
import {
  byName,
  count,
  exact,
  flag,
  isDayOver,
  listOfRows,
  pointFields,
  pointShown,
  shape,
  text,
  utcDay,
} from './shape/results.ts'
import { nameProducerStatus, producerStatus, producerStatusIfRegistered, toAmount, toIost } from './shape/values.ts'

type ProducerVotes = Pick<ProducerDoc, 'votes' | 'opening_votes'>

/** Days in the weekly change of votes, the day of the published block included. */
export const DAYS_OF_CHANGE = 7

/** Votes at the beginning of a UTC day among the last `VOTE_DAYS`: those before the first change on or after it. */
function getOpeningVotes({ votes, opening_votes }: ProducerVotes, day: number): bigint {
  const next = opening_votes.find(([changed]) => changed >= day)
  return next === undefined ? votes : BigInt(next[1])
}

/** Votes at the end of a day, and their change since its beginning. */
type VotesOfDay = { readonly day: number; readonly votes: bigint; readonly change: bigint }

/** The votes of each day from `from` to `to`; all of them must be known. */
const listVotesByDay = (producer: ProducerVotes, from: number, to: number): readonly VotesOfDay[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => {
    const day = from + at
    const votes = getOpeningVotes(producer, day + 1)
    return { day, votes, change: votes - getOpeningVotes(producer, day) }
  })

/** Number of days in the rate, the current one included (decisions: 30 UTC days of chain time). */
const DAYS = 30
const YEAR = 365n
const RATE_DECIMALS = 8

/**
 * Yearly return of a voter × 10^8: amount paid to the producer's voters in the last 30 days ÷ votes × 365 ÷
 * 30, rounded half up; 0 without votes. Exact: one division of integers.
 */
export function computeDividendRate({ votes, payouts }: Pick<ProducerDoc, 'votes' | 'payouts'>, today: number): bigint {
  if (votes <= 0n) return 0n
  let paid = 0n
  for (const [day, amount] of payouts) if (day > today - DAYS && day <= today) paid += BigInt(amount)
  const above = paid * YEAR * 10n ** BigInt(RATE_DECIMALS)
  const below = votes * BigInt(DAYS)
  return (2n * above + below) / (2n * below)
}

/** Rank of `own` among all, from 1: by figure, largest first, then by account. */
export function computeRank<T extends { readonly account: string }>(
  all: readonly T[],
  own: T,
  figureOf: (one: T) => bigint,
): number {
  const figure = figureOf(own)
  const ahead = all.filter(other => {
    const theirs = figureOf(other)
    return theirs > figure || (theirs === figure && other.account < own.account)
  })
  return ahead.length + 1
}

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

const profileText = (en: string, zh: string) =>
  text(`${en} From the operator's profile file.`, `${zh}来自运营者的资料文件。`)

const result = shape({
  account: text('Account name of the producer.', '生产者的账户名。'),
  alias: profileText('Name.', '名称。'),
  alias_en: profileText('Name in English.', '英文名称。'),
  block_count: count('Number of blocks the producer signed.', '出块数。'),
  description: profileText('Description.', '介绍。'),
  description_en: profileText('Description in English.', '英文介绍。'),
  dividend_rate: exact(
    'Annual return for voters: IOST paid to voters in the last 30 UTC days of chain time ÷ votes × 365 ÷ 30; 0 if there are no votes.',
    '投票者的年化收益率：按链上时间最近 30 个 UTC 日内支付给投票者的 IOST ÷ 票数 × 365 ÷ 30；没有投票时为 0。',
  ),
  dividend_rate_ranking: count(
    'Rank by dividend_rate, then by account name.',
    '按 dividend_rate 的排名，数值相同时按账户名排列。',
  ),
  isProducer: flag('Whether the producer is a candidate for block production.', '是否参与出块竞选。'),
  loc: text('Registered location.', '登记的地区。'),
  logo: profileText('URL of the logo.', '标志图片的 URL。'),
  online: flag('Whether the producer is logged in.', '是否在线。'),
  pubkey: text("Public key that signs the producer's blocks.", '用于签名区块的公钥。'),
  ranking: count(
    'Rank among registered producers, by votes, then by account name.',
    '在已注册生产者中按票数的排名，票数相同时按账户名排列。',
  ),
  received_award: exact('IOST received as rewards for blocks and votes.', '已获得的出块奖励与投票奖励（IOST）。'),
  social_media: byName(
    Type.String(),
    "URLs by platform. From the operator's profile file.",
    '以平台名称为键的链接。来自运营者的资料文件。',
  ),
  statement: profileText('Statement.', '宣言。'),
  statement_en: profileText('Statement in English.', '英文宣言。'),
  status: producerStatus(),
  type: profileText('Type of producer.', '类型。'),
  type_en: profileText('Type of producer in English.', '英文类型。'),
  url: text('Registered URL.', '登记的网址。'),
  votes: exact('Votes, in IOST.', '票数（IOST）。'),
})

export const getProducerDetail = defineAction({
  module: 'producer',
  action: 'get-producer-detail',
  title: { en: 'Producer', zh: '生产者详情' },
  summary: {
    en: "Votes, rank, blocks and rewards of a registered producer (block producer) at the last published irreversible block. Texts and logo come from the operator's profile file and are empty without one. A producer that is no longer registered is not found; its voters can still be queried.",
    zh: '已注册生产者（出块节点）在最新已发布的不可逆区块处的票数、排名、出块数与奖励。文字资料与标志来自运营者的资料文件，未提供时为空。已注销的生产者按不存在处理，但仍可查询其投票者。',
  },
  params: Type.Object({ producer: producer() }),
  result,
  run: async (context, { producer: account }) => {
    const { view, profiles } = context
    const table = (await readWholeOrder(view, { index: producers, order: 'all' })).filter(
      ({ registered }) => registered,
    )
    const found = table.find(doc => doc.account === account)
    if (found === undefined) throw unknown(context, 'producer', account)
    const today = toDay(view.at.time)
    const rateOf = (doc: ProducerDoc) => computeDividendRate(doc, today)
    const profile = profiles.get(account) ?? NO_PROFILE
    return {
      account,
      alias: profile.alias,
      alias_en: profile.alias_en,
      block_count: found.block_count,
      description: profile.description,
      description_en: profile.description_en,
      dividend_rate: toAmount(rateOf(found), RATE_DECIMALS),
      dividend_rate_ranking: computeRank(table, found, rateOf),
      isProducer: found.is_producer,
      loc: found.loc,
      logo: profile.logo,
      online: found.online,
      pubkey: found.pubkey,
      ranking: computeRank(table, found, ({ votes }) => votes),
      received_award: toIost(found.received_award),
      social_media: profile.social_media,
      statement: profile.statement,
      statement_en: profile.statement_en,
      status: nameProducerStatus(found),
      type: profile.type,
      type_en: profile.type_en,
      url: found.url,
      votes: toIost(found.votes),
    }
  },
  fails: ['not_found', 'loading'],
  example: { producer: 'producer000' },
})

const NO_PROFILE: Profile = {
  alias: '',
  alias_en: '',
  description: '',
  description_en: '',
  logo: '',
  statement: '',
  statement_en: '',
  type: '',
  type_en: '',
  social_media: {},
}

const voterRow = shape({
  account: text('Account or contract of the voter.', '投票者（账户或合约）。'),
  votes: exact('Votes, in IOST.', '票数（IOST）。'),
})

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
    ...pagingIfAsked,
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
      const found = await requireNamed(context, 'producer', account)
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
      return toRowListing(
        createOrderListing(order, found.voter_count, doc => ({ account: doc.voter, votes: toIost(doc.votes) })),
      )
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { producer: 'producer000' },
})

const voteDayRow = shape({
  date: utcDay,
  complete: isDayOver,
  votes: exact('Votes at the end of the day, in IOST.', '当日结束时的票数（IOST）。'),
  change: exact(
    'Change in votes during the day, in IOST: votes at its end minus votes at its beginning; negative if votes were lost.',
    '当日结束时的票数减去当日开始时的票数（IOST）；票数减少时为负数。',
  ),
})

export const getProducerVotes = defineAction({
  module: 'producer',
  action: 'get-producer-votes',
  title: { en: 'Votes of a producer by day', zh: '生产者每日票数' },
  summary: {
    en: `Votes of a registered producer at the end of each of the last ${VOTE_DAYS} UTC days of chain time, and how much they changed that day, oldest first; the day of the last published block is the last one. Days before the first block are left out. The list is always complete. A producer that is no longer registered is not found.`,
    zh: `已注册生产者在链上时间最近 ${VOTE_DAYS} 个 UTC 日每日结束时的票数与当日变化，从早到晚排列，最后一日为最新已发布区块所在日期。首个区块之前的日期不列出。始终返回完整列表。已注销的生产者按不存在处理。`,
  },
  params: Type.Object({ producer: producer() }),
  result: listOfRows('days', voteDayRow, { en: 'Days.', zh: '日期列表。' }),
  list: 'days',
  run: async (context, { producer: account }) => {
    const { view } = context
    const [found, genesis] = await Promise.all([view.get(producers, account), genesisDay(view)])
    if (found?.registered !== true) throw unknown(context, 'producer', account)
    const today = toDay(view.at.time)
    const days = listVotesByDay(found, Math.max(genesis, today - VOTE_DAYS + 1), today)
    return buildWholeList(
      'days',
      days.map(({ day, votes, change }) => ({
        date: formatDate(day),
        complete: day < today,
        votes: toIost(votes),
        change: toIost(change),
      })),
    )
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { producer: 'producer000' },
})

/** The registration of a producer, current or former. */
export const getProducerRegistration = defineAction({
  module: 'producer',
  action: 'get-producer-registration',
  title: { en: 'Registration of a producer', zh: '生产者的注册情况' },
  summary: {
    en: 'Whether an account is registered as a producer, or since when it no longer is, with the votes that it still has. An account that was never registered is not found.',
    zh: '账户目前是否注册为生产者；已注销的给出注销的区块与时间，以及仍投给它的票数。从未注册过的账户按不存在处理。',
  },
  params: Type.Object({ producer: producer() }),
  result: shape({
    account: text('Account name of the producer.', '生产者的账户名。'),
    registered: flag(
      'Whether the producer is in the table of producers; status says whether it is approved.',
      '目前是否在生产者表中；是否已获批准见 status。',
    ),
    status: Type.Optional(producerStatusIfRegistered()),
    unregistered_block: Type.Optional(
      count(
        'Number of the block in which the producer was unregistered; absent while it is registered.',
        '注销所在的区块高度；注册期间没有此字段。',
      ),
    ),
    unregistered_at: Type.Optional(
      text(
        'Time of that block, ISO-8601 UTC, cut to milliseconds; absent while the producer is registered.',
        '该区块的时间，ISO-8601 UTC，截断到毫秒；注册期间没有此字段。',
      ),
    ),
    votes: exact('Votes, in IOST.', '票数（IOST）。'),
    voter_count: count('Number of accounts that vote for the producer.', '为该生产者投票的账户数。'),
    block_count: count('Number of blocks the producer signed.', '出块数。'),
    received_award: exact('IOST received as rewards for blocks and votes.', '已获得的出块奖励与投票奖励（IOST）。'),
    pubkey: text(
      "Public key that signs the producer's blocks; the last one if it is not registered.",
      '用于签名区块的公钥；已注销时为最后一个。',
    ),
    loc: text('Registered location, or the last one.', '登记的地区；已注销时为最后登记的。'),
    url: text('Registered URL, or the last one.', '登记的网址；已注销时为最后登记的。'),
  }),
  run: async (context, { producer: account }) => {
    const found = await context.view.get(producers, account)
    // Accounts with rewards, keys, or votes under earlier contracts also have a document.
    if (found === undefined || !(found.registered || found.unregistered !== undefined))
      throw unknown(context, 'producer', account)
    return {
      account,
      registered: found.registered,
      ...(found.registered ? { status: nameProducerStatus(found) } : {}),
      ...(found.unregistered === undefined ? {} : await readUnregistration(context.view, found.unregistered)),
      votes: toIost(found.votes),
      voter_count: found.voter_count,
      block_count: found.block_count,
      received_award: toIost(found.received_award),
      pubkey: found.pubkey,
      loc: found.loc,
      url: found.url,
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { producer: 'prod_11' },
})

async function readUnregistration(view: View, height: number) {
  const { time } = await readBlock(view, height)
  return { unregistered_block: height, unregistered_at: toIso(time) }
}
