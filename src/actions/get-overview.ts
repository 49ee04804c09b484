import { Type } from '@sinclair/typebox'
import { Exact } from '#chain/json.ts'
import { formatDate } from '#chain/time.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { wealth } from '#indices/wealth.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { readAccountDays, readTokenDays } from './find/day-statistics.ts'
import { type Day, readDays, requestedDays } from './find/days.ts'
import { createOrderListing } from './find/listing.ts'
import { buildWholeList, defineList } from './list/paging.ts'
import { owner, paging, token } from './request/parameter-types.ts'
import { createDateCheck, DAYS_DEFAULT, dates } from './request/range.ts'
import {
  count,
  described,
  exact,
  isDayOver,
  listOfRows,
  shape,
  sourced,
  sourcedCount,
  text,
  utcDay,
} from './shape/results.ts'
import { toDouble, toGas, toIost } from './shape/values.ts'

/** Accounts sell RAM to ram.iost at balance ÷ left, and buy it at 2 % more (chain rule, `ram.js`). */
const BUY_FACTOR = 1.02

/** Prices in IOST per byte. Doubles, in the chain's own order of operations (`ram.js`, `ram_handler.go`). */
function computeRamPrices(ram: Pick<StatisticsDoc['ram'], 'left' | 'balance'>) {
  const left = Number(ram.left)
  const balance = Number(ram.balance)
  return { ram_buy_price: toDouble((BUY_FACTOR * balance) / left), ram_sell_price: toDouble(balance / left) }
}

const tokenDayRow = shape({
  date: utcDay,
  complete: isDayOver,
  transfers: count(
    'Only with token: transfers and transferFreezes of it.',
    '仅在使用 token 时返回：该代币的 transfer 与 transferFreeze 次数。',
  ),
  volume: text(
    'Only with token: amount that these moved, in token units.',
    '仅在使用 token 时返回：上述转账的总额（代币单位）。',
  ),
  issued: text('Only with token: issued, in token units.', '仅在使用 token 时返回：发行数量（代币单位）。'),
  destroyed: text('Only with token: destroyed, in token units.', '仅在使用 token 时返回：销毁数量（代币单位）。'),
  supply: text(
    'Only with token: supply at the end of the day, in token units.',
    '仅在使用 token 时返回：当日结束时的供应量（代币单位）。',
  ),
  holders: count(
    'Only with token: owners with an available balance above 0 at the end of the day.',
    '仅在使用 token 时返回：当日结束时可用余额大于 0 的持有者数量。',
  ),
})

const accountDayRow = shape({
  date: utcDay,
  complete: isDayOver,
  in: text(
    'Only with account: sum of all increases of its balance, in token units.',
    '仅在使用 account 时返回：余额增加的合计（代币单位）。',
  ),
  out: text(
    'Only with account: sum of all decreases of its balance, without the sign, in token units.',
    '仅在使用 account 时返回：余额减少的合计，不带负号（代币单位）。',
  ),
  movements_in: count(
    'Only with account: number of changes that are summed up in `in`.',
    '仅在使用 account 时返回：in 所合计的变动次数。',
  ),
  movements_out: count(
    'Only with account: number of changes that are summed up in `out`.',
    '仅在使用 account 时返回：out 所合计的变动次数。',
  ),
  counterparties: sourcedCount(
    'Only with account: how many others it moved the token from or to. null: not counted, see reason.',
    '仅在使用 account 时返回：与其转移该代币的其他地址数量。null 表示未统计，见 reason。',
  ),
  reason: Type.Optional(
    text(
      'Only where counterparties is null: too_many, since the days asked for have more than 10,000 movements together, or more than 256 with long texts; ask for fewer days.',
      '仅在 counterparties 为 null 时出现：too_many，表示所查日期合计超过 10,000 次变动，或含长文本的变动超过 256 次；请减少天数。',
    ),
  ),
})

/** Maximum number of days in one answer: a leap year. */
const MAX_DAYS = 366
const checkDates = createDateCheck(MAX_DAYS)

const dayRow = shape({
  date: utcDay,
  complete: isDayOver,
  blocks: count('Blocks.', '区块数。'),
  transactions: count('Transactions, without base transactions.', '交易数，不含 base 交易。'),
  failed_transactions: count('Number of these transactions that failed.', '其中失败的交易数。'),
  actions: count('Actions of these transactions, failed ones included.', '这些交易中的方法调用数，含失败的交易。'),
  token_movements: count(
    'Movements of tokens (transfer, transferFreeze, issue and destroy of token.iost), without the contribute that a block is paid with.',
    '代币变动次数（token.iost 的 transfer、transferFreeze、issue 与 destroy），不含出块奖励的 contribute。',
  ),
  new_accounts: count('Accounts registered.', '新注册的账户数。'),
  new_contracts: count('Contracts deployed.', '新部署的合约数。'),
  gas_usage: exact('Gas used by all transactions.', '全部交易消耗的 gas。'),
  iost_moved: exact('IOST of the movements that token_movements counts.', 'token_movements 所计变动中的 IOST 总额。'),
  ram_fee: exact('Fees that buyers of RAM paid, in IOST.', '购买 RAM 时支付的手续费（IOST）。'),
  ram_buy_price: exact(
    'Price of RAM when buying at the end of the day, IOST per byte.',
    '当日结束时购买 RAM 的单价（IOST/字节）。',
  ),
  ram_sell_price: exact(
    'Price of RAM when selling at the end of the day, IOST per byte.',
    '当日结束时出售 RAM 的单价（IOST/字节）。',
  ),
  votes: exact(
    'Votes of all registered producers at the end of the day, in IOST.',
    '当日结束时所有已注册生产者的总票数（IOST）。',
  ),
  highest_tps: count(
    'Most transactions in one second of block time, without base transactions.',
    '单秒最高交易数（按区块时间计，不含 base 交易）。',
  ),
})

/** Daily figures of the chain, of a token, or of an account. */
export const getDailyStatistics = defineAction({
  module: 'base',
  action: 'get-daily-statistics',
  title: { en: 'Daily statistics', zh: '每日统计' },
  summary: {
    en: `Figures of each UTC day of the range, oldest first, both ends included, at most ${MAX_DAYS} days. Days before the first block and after the last published one are left out; a day without blocks has zeros, and the RAM prices and votes of the last day before it. Without end_date the range ends with the day of the last published block, without start_date it has ${DAYS_DEFAULT} days. With token, the rows have the figures of that token. With account, they have what that account received and sent of the token, or of iost without one: in and out add up all changes of its available and frozen balance together, as get-balance-history does with step=day; a frozen amount that comes due and a transfer to itself do not count, while a transferFreeze to itself counts once each way.`,
    zh: `区间内每个 UTC 日的统计，从早到晚排列，含首尾两日，最多 ${MAX_DAYS} 天。首个区块之前与最新已发布区块之后的日期不列出；没有区块的日期各项为 0，RAM 价格与票数取此前最近一日的值。不提供 end_date 时截至最新已发布区块所在日期，不提供 start_date 时为 ${DAYS_DEFAULT} 天。提供 token 时，各行为该代币的统计。提供 account 时，各行为该账户收付该代币（不提供 token 时为 iost）的统计：in 与 out 是可用与冻结合计的全部变动之和，与 get-balance-history 的 step=day 一致；冻结金额到期与转给自己不计为变动，以 transferFreeze 转给自己则收付各计一次。`,
  },
  params: Type.Object({
    account: Type.Optional(owner()),
    token: Type.Optional(token()),
    ...dates,
  }),
  check: checkDates,
  result: listOfRows('days', Type.Union([dayRow, tokenDayRow, accountDayRow]), {
    en: 'Days.',
    zh: '日期列表。',
  }),
  list: 'days',
  run: async (context, { account, token: symbol, ...given }) => {
    const asked = await requestedDays(context, given, checkDates)
    if (account !== undefined) {
      const rows = await readAccountDays(context, { account, symbol: symbol ?? 'iost' }, asked)
      return buildWholeList('days', rows, { columns: Object.keys(accountDayRow.properties) })
    }
    if (symbol !== undefined)
      return buildWholeList('days', await readTokenDays(context, symbol, asked), {
        columns: Object.keys(tokenDayRow.properties),
      })
    const days = await readDays(context.view, asked)
    return buildWholeList(
      'days',
      days.map(day => toStatisticsRow(day, asked.today)),
    )
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { start_date: '2026-11-21', end_date: '2026-11-21' },
})

const toStatisticsRow = ({ day, doc }: Day, today: number) => ({
  date: formatDate(day),
  complete: day < today,
  blocks: doc.blocks,
  transactions: doc.transactions,
  failed_transactions: doc.failed,
  actions: doc.actions,
  token_movements: doc.movements,
  new_accounts: doc.new_accounts,
  new_contracts: doc.new_contracts,
  gas_usage: toGas(doc.gas_usage),
  iost_moved: toIost(BigInt(doc.iost_moved)),
  ram_fee: toIost(doc.ram_fees),
  ...computeRamPrices(doc.ram),
  votes: toIost(doc.votes),
  highest_tps: doc.highest_tps,
})

const wealthRow = shape({
  symbol: text('Always iost.', '恒为 iost。'),
  account: text('Account or user contract.', '账户或用户合约。'),
  balance: exact('token_balance + vote_balance + frozen_balance.', 'token_balance + vote_balance + frozen_balance。'),
  token_balance: exact('Available IOST.', '可用的 IOST。'),
  vote_balance: exact('IOST locked in votes for producers.', '投票锁定的 IOST。'),
  frozen_balance: exact('Frozen IOST that is not due yet.', '尚未到期的冻结 IOST。'),
})

export const getWealthList = defineList({
  module: 'base',
  action: 'get-wealth-list',
  title: { en: 'Wealth list', zh: '财富榜' },
  summary: {
    en: 'Accounts and user contracts, sorted by their total IOST, largest first, then by name. System contracts (*.iost) are left out, since their IOST belongs to others; so are owners with a total of 0.',
    zh: '按 IOST 总额从大到小排列的账户与用户合约，总额相同时按名称排列。系统合约（*.iost）的余额属于他人，不列入；总额为 0 的持有者也不列入。',
  },
  params: Type.Object({ ...paging }),
  result: listOfRows('wealth', wealthRow, { en: 'Owners of this page.', zh: '持有者列表。' }),
  list: 'wealth',
  source: {
    state: [wealth, statistics],
    open: async ({ view }) => {
      const total = (await view.get(statistics, STATISTICS))?.wealth_count ?? 0
      return createOrderListing({ index: wealth, order: 'richest' }, total, doc => ({
        symbol: 'iost',
        account: doc.owner,
        balance: toIost(doc.total),
        token_balance: toIost(doc.token),
        vote_balance: toIost(doc.vote),
        frozen_balance: toIost(doc.frozen),
      }))
    },
  },
  isOfStore: true,
  fails: [],
  example: { page: '1', size: '10' },
})

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
      readNotCirculating(view),
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

async function readNotCirculating(view: View): Promise<bigint> {
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
