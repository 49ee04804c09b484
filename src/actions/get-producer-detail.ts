import { Type } from '@sinclair/typebox'
import { type ProducerDoc, producers } from '#indices/producer.ts'
import { defineAction, type Profile } from './define.ts'
import { dayOf, dividendRateOf, RATE_DECIMALS } from './dividend.ts'
import { producer } from './params.ts'
import { placeIn } from './ranking.ts'
import { byName, count, exact, flag, shape, text } from './results.ts'
import { unknown } from './unknown.ts'
import { amountOf, iostOf } from './values.ts'
import { wholeOrder } from './whole.ts'

const profileText = (en: string, zh: string) =>
  text(`${en} From the operator's profile file.`, `${zh}来自运营者的资料文件。`)

const result = shape({
  account: text('Account of the producer.', '节点账户名。'),
  alias: profileText('Name.', '名称。'),
  alias_en: profileText('Name in English.', '英文名称。'),
  block_count: count('Blocks it signed.', '出块数。'),
  description: profileText('Description.', '介绍。'),
  description_en: profileText('Description in English.', '英文介绍。'),
  dividend_rate: exact(
    'Yearly return of a voter: IOST paid to its voters in the last 30 UTC days of chain time ÷ votes × 365 ÷ 30; 0 without votes.',
    '投票者年化回报：链上时间最近 30 个 UTC 日付给其投票者的 IOST ÷ 票数 × 365 ÷ 30；没有票数时为 0。',
  ),
  dividend_rate_ranking: count(
    'Place by dividend_rate, then by account.',
    '按 dividend_rate、再按账户名的名次。',
  ),
  isProducer: flag('Whether it wants to produce blocks.', '是否参与出块。'),
  loc: text('Location it registered.', '登记的地区。'),
  logo: profileText('Address of its logo.', '标志图片地址。'),
  online: flag('Whether it is logged in.', '是否在线。'),
  pubkey: text('Public key that signs its blocks.', '签名区块的公钥。'),
  ranking: count(
    'Place by votes, then by account, among registered producers.',
    '在已注册节点中按票数、再按账户名的名次。',
  ),
  received_award: exact('IOST it received for blocks and votes.', '获得的出块与得票奖励（IOST）。'),
  social_media: byName(
    Type.String(),
    "Addresses by medium. From the operator's profile file.",
    '以平台为键的地址。来自运营者的资料文件。',
  ),
  statement: profileText('Statement.', '宣言。'),
  statement_en: profileText('Statement in English.', '英文宣言。'),
  type: profileText('Kind of producer.', '类型。'),
  type_en: profileText('Kind of producer in English.', '英文类型。'),
  url: text('Address it registered.', '登记的网址。'),
  votes: exact('Votes, in IOST.', '票数（IOST）。'),
})

/** A registered producer. */
export const getProducerDetail = defineAction({
  module: 'producer',
  action: 'get-producer-detail',
  title: { en: 'Producer', zh: '节点详情' },
  summary: {
    en: "A registered producer with its votes, ranking, blocks and rewards at the last published irreversible block. Texts and logo come from the operator's profile file and are empty without one. A producer that is not registered is not found; its voters still are.",
    zh: '已注册节点在最后发布的不可逆区块处的票数、名次、出块与奖励。文字与标志来自运营者的资料文件，没有时为空。未注册的节点查询不到，但其投票者仍可查询。',
  },
  params: Type.Object({ producer: producer() }),
  result,
  run: async (context, { producer: account }) => {
    const { view, profiles } = context
    const table = (await wholeOrder(view, producers, 'all')).filter(({ registered }) => registered)
    const found = table.find(doc => doc.account === account)
    if (found === undefined) throw unknown(context, 'producer', account)
    const today = dayOf(view.at.time)
    const rateOf = (doc: ProducerDoc) => dividendRateOf(doc, today)
    const profile = profiles.get(account) ?? NO_PROFILE
    return {
      account,
      alias: profile.alias,
      alias_en: profile.alias_en,
      block_count: found.block_count,
      description: profile.description,
      description_en: profile.description_en,
      dividend_rate: amountOf(rateOf(found), RATE_DECIMALS),
      dividend_rate_ranking: placeIn(table, found, rateOf),
      isProducer: found.is_producer,
      loc: found.loc,
      logo: profile.logo,
      online: found.online,
      pubkey: found.pubkey,
      ranking: placeIn(table, found, ({ votes }) => votes),
      received_award: iostOf(found.received_award),
      social_media: profile.social_media,
      statement: profile.statement,
      statement_en: profile.statement_en,
      type: profile.type,
      type_en: profile.type_en,
      url: found.url,
      votes: iostOf(found.votes),
    }
  },
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
