import { Type } from '@sinclair/typebox'
import { Exact } from '#chain/json.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { count, described, exact, shape, sourced, sourcedCount, text } from './shape/results.ts'
import { computeRamPrices } from './shape/statistics.ts'
import { toDouble, toIost } from './shape/values.ts'

/** Owners whose IOST does not circulate: the reward pools of the chain, and an address that no one can spend from. */
export const NOT_CIRCULATING: readonly string[] = ['bonus.iost', 'issue.iost', 'vote_producer.iost', 'deadaddr']

const result = shape({
  account_count: count('Number of registered accounts, including genesis accounts.', '已注册账户数（含创世账户）。'),
  all_votes: exact('Votes of all registered producers, in IOST.', '所有已注册生产者的总票数（IOST）。'),
  circulating_supply: exact(
    'IOST supply minus the balances of the reward pools (bonus.iost, issue.iost, vote_producer.iost) and deadaddr.',
    'IOST 供应量减去奖励池（bonus.iost、issue.iost、vote_producer.iost）与 deadaddr 的持有量。',
  ),
  usd_price: sourced(
    'Price of one IOST in USD; null if no price source is configured.',
    'IOST 的美元价格；未配置价格来源时为 null。',
  ),
  cny_price: sourced(
    'Price of one IOST in CNY; null if no price source is configured.',
    'IOST 的人民币价格；未配置价格来源时为 null。',
  ),
  rank: sourcedCount(
    'Rank by market capitalization; null if no price source is configured.',
    '市值排名；未配置价格来源时为 null。',
  ),
  price_time: described(
    Type.Union([Type.String(), Type.Null()]),
    'Time of the prices; null if no price source is configured.',
    '价格的时间；未配置价格来源时为 null。',
  ),
  contract_count: count('Number of deployed contracts, including system contracts.', '已部署合约数（含系统合约）。'),
  token_count: count('Number of created tokens.', '已创建代币数。'),
  head_block: text(
    'Height of the head block if the service is connected to a node, otherwise of the last published block.',
    '服务连接全节点时为链头区块高度，否则为最新已发布区块的高度。',
  ),
  lib_block: count('Height of the last published irreversible block.', '最新已发布的不可逆区块高度。'),
  highest_tps: text(
    'Highest number of transactions in one second of block time, not counting base transactions.',
    '单秒最高交易数（按区块时间计，不含 base 交易）。',
  ),
  ram_buy_price: exact('Price of RAM when buying, IOST per byte.', '购买 RAM 的单价（IOST/字节）。'),
  ram_sell_price: exact('Price of RAM when selling, IOST per byte.', '出售 RAM 的单价（IOST/字节）。'),
  total_ram: text('Total RAM, bytes.', 'RAM 总量（字节）。'),
  used_ram: text('RAM sold, bytes.', '已售出的 RAM（字节）。'),
})

/** Figures of the whole chain. */
export const getOverview = defineAction({
  module: 'base',
  action: 'get-overview',
  title: { en: 'Network overview', zh: '网络概览' },
  summary: {
    en: 'Statistics of the whole chain at the last published irreversible block. Only head_block may be higher, if the service is connected to a node. Prices and rank come from the source the operator configured and are null without one.',
    zh: '全链统计数据，对应最新已发布的不可逆区块。服务连接全节点时，只有 head_block 可能高于该高度。价格与排名来自运营者配置的来源，未配置时为 null。',
  },
  params: Type.Object({}),
  result,
  run: async context => {
    const { view } = context
    const [figures, iost, outside] = await Promise.all([
      view.get(statistics, STATISTICS),
      view.get(tokens, 'iost'),
      notCirculating(view),
    ])
    const price = context.prices.get()
    return {
      account_count: figures?.account_count ?? 0,
      all_votes: toIost(figures?.producer_votes ?? 0n),
      circulating_supply: toIost((iost?.current_supply ?? 0n) - outside),
      usd_price: price === undefined ? null : new Exact(price.usd),
      cny_price: price === undefined ? null : new Exact(price.cny),
      rank: price === undefined ? null : price.rank,
      price_time: price === undefined ? null : price.time,
      contract_count: figures?.contract_count ?? 0,
      token_count: figures?.token_count ?? 0,
      // The head of the branch whose rows lists return with head=1. Without such a branch, the last head that a
      // node reported.
      head_block: String(
        context.branch.height ?? Math.max(context.view.at.height, context.node?.lastInfo()?.headBlock ?? 0),
      ),
      lib_block: view.at.height,
      highest_tps: String(figures?.highest_tps ?? 0),
      ...toRamMarket(figures?.ram ?? { left: '0', used: '0', balance: '0' }),
    }
  },
  fails: [],
  example: {},
})

async function notCirculating(view: View): Promise<bigint> {
  const ids = NOT_CIRCULATING.map(owner => balanceId('iost', owner))
  const docs = await view.getMany(balances, ids)
  return docs.reduce((sum, doc) => sum + (doc?.amount ?? 0n) + (doc?.frozen ?? 0n), 0n)
}

function toRamMarket(ram: { readonly left: string; readonly used: string; readonly balance: string }) {
  const left = Number(ram.left)
  const used = Number(ram.used)
  return {
    ...computeRamPrices(ram),
    total_ram: toDouble(used + left).text,
    used_ram: toDouble(used).text,
  }
}
