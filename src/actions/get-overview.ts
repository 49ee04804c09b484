import { Type } from '@sinclair/typebox'
import { Exact } from '#chain/json.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { producers } from '#indices/producer.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { count, described, exact, shape, sourced, sourcedCount, text } from './results.ts'
import { doubleOf, iostOf } from './values.ts'
import { wholeOrder } from './whole.ts'

/** Reward pools of the chain and the address nobody can spend from: their IOST does not circulate. */
const NOT_CIRCULATING = ['bonus.iost', 'issue.iost', 'vote_producer.iost', 'deadaddr']
/** ram.iost sells at balance ÷ left and buys at 2 % above (chain rule, `ram.js`). */
const BUY_FACTOR = 1.02

const result = shape({
  account_count: count('Accounts signed up, genesis included.', '已注册账户数（含创世账户）。'),
  all_votes: exact('Votes of all registered producers, in IOST.', '所有已注册节点的总票数（IOST）。'),
  circulating_supply: exact(
    'IOST supply without the reward pools (bonus.iost, issue.iost, vote_producer.iost) and deadaddr.',
    'IOST 供应量减去奖励池（bonus.iost、issue.iost、vote_producer.iost）与 deadaddr 的持有量。',
  ),
  usd_price: sourced(
    'Price of one IOST in USD; null without a source.',
    'IOST 的美元价格；没有来源时为 null。',
  ),
  cny_price: sourced(
    'Price of one IOST in CNY; null without a source.',
    'IOST 的人民币价格；没有来源时为 null。',
  ),
  rank: sourcedCount('Rank by market value; null without a source.', '市值排名；没有来源时为 null。'),
  price_time: described(
    Type.Union([Type.String(), Type.Null()]),
    'Time of the prices; null without a source.',
    '价格的时间；没有来源时为 null。',
  ),
  contract_count: count('Contracts deployed, system ones included.', '已部署合约数（含系统合约）。'),
  token_count: count('Tokens created.', '已创建代币数。'),
  head_block: text(
    'Number of the head block when a node is followed, else of the last published block.',
    '跟随节点时为链头区块高度，否则为最后发布的区块高度。',
  ),
  lib_block: count('Number of the last published irreversible block.', '最后发布的不可逆区块高度。'),
  highest_tps: text(
    'Most transactions (base ones left out) in one whole second of block time.',
    '按区块时间计，一整秒内的最多交易数（不含 base 交易）。',
  ),
  ram_buy_price: exact('IOST per byte when buying RAM.', '购买 RAM 的单价（IOST/字节）。'),
  ram_sell_price: exact('IOST per byte when selling RAM.', '出售 RAM 的单价（IOST/字节）。'),
  total_ram: text('RAM of the market, bytes.', 'RAM 总量（字节）。'),
  used_ram: text('RAM sold, bytes.', '已售出的 RAM（字节）。'),
})

/** Figures over the whole chain. */
export const getOverview = defineAction({
  module: 'base',
  action: 'get-overview',
  title: { en: 'Network overview', zh: '网络概览' },
  summary: {
    en: "Figures over the whole chain, true at the last published irreversible block; head_block alone is newer when a node is followed. Prices and rank come from the operator's source and are null without one.",
    zh: '全链统计，对应最后发布的不可逆区块；仅 head_block 在跟随节点时更新。价格与排名来自运营者提供的来源，没有来源时为 null。',
  },
  params: Type.Object({}),
  result,
  run: async context => {
    const { view } = context
    const [figures, iost, votes, outside] = await Promise.all([
      view.get(statistics, STATISTICS),
      view.get(tokens, 'iost'),
      votesOf(view),
      notCirculating(view),
    ])
    const price = context.prices.get()
    return {
      account_count: figures?.account_count ?? 0,
      all_votes: iostOf(votes),
      circulating_supply: iostOf((iost?.current_supply ?? 0n) - outside),
      usd_price: price === undefined ? null : new Exact(price.usd),
      cny_price: price === undefined ? null : new Exact(price.cny),
      rank: price === undefined ? null : price.rank,
      price_time: price === undefined ? null : price.time,
      contract_count: figures?.contract_count ?? 0,
      token_count: figures?.token_count ?? 0,
      head_block: String(Math.max(view.at.height, context.node?.heard()?.headBlock ?? 0)),
      lib_block: view.at.height,
      highest_tps: String(figures?.highest_tps ?? 0),
      ...marketOf(figures?.ram ?? { left: '0', used: '0', balance: '0' }),
    }
  },
  example: {},
})

const votesOf = async (view: View): Promise<bigint> => {
  let sum = 0n
  for (const producer of await wholeOrder(view, producers, 'all'))
    if (producer.registered) sum += producer.votes
  return sum
}

const notCirculating = async (view: View): Promise<bigint> => {
  const docs = await view.getMany(
    balances,
    NOT_CIRCULATING.map(owner => balanceId('iost', owner)),
  )
  return docs.reduce((sum, doc) => sum + (doc?.amount ?? 0n) + (doc?.frozen ?? 0n), 0n)
}

/** Doubles in the chain's own order of operations (`ram.js`, `ram_handler.go`). */
const marketOf = (ram: { readonly left: string; readonly used: string; readonly balance: string }) => {
  const left = Number(ram.left)
  const used = Number(ram.used)
  const balance = Number(ram.balance)
  return {
    ram_buy_price: doubleOf((BUY_FACTOR * balance) / left),
    ram_sell_price: doubleOf(balance / left),
    total_ram: doubleOf(used + left).text,
    used_ram: doubleOf(used).text,
  }
}
