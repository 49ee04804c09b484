import { Type } from '@sinclair/typebox'
import { toDay } from '#chain/time.ts'
import { type ProducerDoc, producers } from '#indices/producer.ts'
import { defineAction, type Profile } from './define.ts'
import { wholeOrder } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { computeDividendRate, computeRank, RATE_DECIMALS } from './find/producer-votes.ts'
import { producer } from './request/parameter-types.ts'
import { byName, count, exact, flag, shape, text } from './shape/results.ts'
import { nameProducerStatus, producerStatus, toAmount, toIost } from './shape/values.ts'

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

/** A registered producer. */
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
    const table = (await wholeOrder(view, { index: producers, order: 'all' })).filter(({ registered }) => registered)
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
