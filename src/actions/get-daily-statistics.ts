import { Type } from '@sinclair/typebox'
import { formatDate } from '#chain/time.ts'
import { defineAction } from './define.ts'
import { daysOfAccount, daysOfToken } from './find/day-statistics.ts'
import { type Day, readDays, requestedDays } from './find/days.ts'
import { buildWholeList } from './list/paging.ts'
import { owner, token } from './request/parameter-types.ts'
import { createDateCheck, DAYS_DEFAULT, dates } from './request/range.ts'
import { count, exact, isDayOver, listOfRows, shape, utcDay } from './shape/results.ts'
import { accountDayRow, computeRamPrices, tokenDayRow } from './shape/statistics.ts'
import { toGas, toIost } from './shape/values.ts'

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
      const rows = await daysOfAccount(context, { account, symbol: symbol ?? 'iost' }, asked)
      return buildWholeList('days', rows, { columns: Object.keys(accountDayRow.properties) })
    }
    if (symbol !== undefined)
      return buildWholeList('days', await daysOfToken(context, symbol, asked), {
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
