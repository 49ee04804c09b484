import { Type } from '@sinclair/typebox'
import { formatUnits } from '#chain/amount.ts'
import { formatDate, startOfDay, toIso } from '#chain/time.ts'
import { balances } from '#indices/balance.ts'
import { lists } from '#indices/list.ts'
import { series } from '#indices/series.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { defineAction } from './define.ts'
import { readSupplies } from './find/day-statistics.ts'
import { checkStepDates, listStepHeights, requestedSteps } from './find/days.ts'
import { createMemoryListing, createOrderListing, toRowListing } from './find/listing.ts'
import { requireNamed, requireToken, resolveFilters } from './find/owner.ts'
import { readPastHolders } from './find/past-ranking.ts'
import { findMoment } from './find/point.ts'
import { buildWholeList, defineList } from './list/paging.ts'
import { isSearched, plannedRecords, tokenPlan } from './list/record-plan.ts'
import { paging, sort, token } from './request/parameter-types.ts'
import {
  checkPoint,
  checkRange,
  type Dates,
  dates,
  hasPoint,
  headOptions,
  point,
  type RowRange,
  range,
  step,
} from './request/range.ts'
import {
  checkFilters,
  checkRecordRange,
  checkSide,
  counterparty,
  direction,
  funcName,
  splitFilters,
  textFilters,
} from './request/record-filters.ts'
import { recordLists } from './shape/records.ts'
import {
  count,
  defineCreatedTime,
  exact,
  flag,
  listOfRows,
  pointFields,
  pointShown,
  shape,
  text,
  txHash,
} from './shape/results.ts'
import { toAmount, toTransferability, transferability } from './shape/values.ts'

export const getTokenDetail = defineAction({
  module: 'token',
  action: 'get-token-detail',
  title: { en: 'Token', zh: '代币详情' },
  summary: {
    en: 'A token and its supply, in token units. issuer is empty if the token was recycled.',
    zh: '代币信息，供应量以代币单位表示。代币被回收后 issuer 为空。',
  },
  params: Type.Object({ token: token() }),
  result: shape({
    symbol: text('Name of the token.', '代币名称。'),
    full_name: text('Full name.', '全名。'),
    issuer: text('Account that may issue the token.', '有权发行该代币的账户。'),
    decimal: count('Decimals.', '小数位数。'),
    total_supply: text('Maximum supply, in token units.', '最大供应量（代币单位）。'),
    current_supply: exact(
      'Current supply (issued minus destroyed), in token units.',
      '当前供应量，即已发行减去已销毁的数量（代币单位）。',
    ),
    ...transferability,
    holder_count: count('Number of owners with a balance above 0.', '余额大于 0 的持有者数。'),
    created_at: defineCreatedTime(),
    tx_hash: txHash(),
  }),
  run: async (context, { token: symbol }) => {
    const found = await requireNamed(context, 'token', symbol)
    return {
      symbol: found.symbol,
      full_name: found.full_name,
      issuer: found.issuer,
      decimal: found.decimal,
      total_supply: formatUnits(found.total_supply, found.decimal),
      current_supply: toAmount(found.current_supply, found.decimal),
      ...toTransferability(found),
      holder_count: found.holder_count,
      created_at: toIso(found.time),
      tx_hash: found.tx_hash,
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { token: 'iost' },
})

const holderRow = shape({
  account: text('Account, contract, public key or 0.', '账户、合约、公钥或 0。'),
  balance: text('Available balance, in token units.', '可用余额（代币单位）。'),
  symbol: text('Name of the token.', '代币名称。'),
})

export const getTokenHolder = defineList({
  module: 'token',
  action: 'get-token-holder',
  title: { en: 'Token holders', zh: '代币持有者' },
  summary: {
    en: 'Owners with a balance above 0, sorted by balance, largest first, then by name. Contracts, deadaddr and 0 are included. Frozen amounts count only if they are due. With at_block or at_time they are the holders of that point; the first page of a point may take some time, and exports go on for as long as it takes.',
    zh: '余额大于 0 的持有者，按余额从大到小排列，余额相同时按名称排列，包括合约、deadaddr 与 0。已到期的冻结金额计入余额，未到期的不计入。提供 at_block 或 at_time 时为当时的持有者；同一时点的第一页可能需要一些时间，导出则不限时间。',
  },
  params: Type.Object({ token: token(), ...paging, ...point }),
  check: checkPoint,
  result: shape({
    ...listOfRows('holders', holderRow, { en: 'Holders of this page.', zh: '持有者列表。' }).properties,
    ...pointFields,
  }),
  list: 'holders',
  source: {
    state: [balances, tokens, series, lists],
    open: async (context, { token: symbol, ...asked }) => {
      const found = await requireNamed(context, 'token', symbol)
      const rowOf = (account: string, units: bigint) => ({
        account,
        balance: formatUnits(units, found.decimal),
        symbol,
      })
      const then = hasPoint(asked) ? await findMoment(context, asked) : undefined
      if (then !== undefined)
        return {
          ...createMemoryListing(await readPastHolders(context, symbol, then.height), ([owner, units]) =>
            rowOf(owner, units),
          ),
          beside: pointShown(then),
          heights: [then.height],
        }
      const order = { index: balances, order: 'holders', group: symbol } as const
      return toRowListing(createOrderListing(order, found.holder_count, doc => rowOf(doc.owner, doc.amount)))
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { token: 'iost', page: '1', size: '10' },
})

export const getTokenTx = defineList({
  module: 'token',
  action: 'get-token-tx',
  title: { en: 'Token transactions', zh: '代币交易记录' },
  summary: {
    en: 'All movements of a token (transfer, transferFreeze, issue, destroy), newest first; sort=asc returns the exact reverse. There is one row per movement, whether an action made it directly or a contract within one; an action that failed moved nothing and has no row. Left out is the contribute that the base transaction of each block issues to the producer of the block before it; current_supply in get-token-detail includes it. With filters, rows are searched for as described in get-account-tx.',
    zh: '代币的全部变动（transfer、transferFreeze、issue、destroy），最新的在前；sort=asc 时顺序完全相反。每次变动为一行，无论由方法直接产生还是由合约在执行中产生；失败的方法没有变动，因此没有记录。每个区块的 base 交易向上一区块的生产者发放的 contribute 不在其中；get-token-detail 的 current_supply 已包含这部分。使用筛选条件时记录需要逐条查找，见 get-account-tx 的说明。',
  },
  params: Type.Object({
    token: token(),
    direction: direction({
      en: 'Only with counterparty: rows that moved the token from the counterparty (in) or to it (out).',
      zh: '仅与 counterparty 一起使用：从对方转出（in）或转入对方（out）的记录。',
    }),
    counterparty: counterparty({
      en: 'Return only rows with this party: an account, a contract id, a public key that owns tokens, or 0.',
      zh: '只返回有此账户参与的记录；也可以是合约 ID、持有代币的公钥或 0。',
    }),
    func_name: funcName({
      en: 'Return only rows recorded under this contract and action, such as token.iost/transferFreeze.',
      zh: '只返回以此方法记录的变动，例如 token.iost/transferFreeze。',
    }),
    ...textFilters,
    ...paging,
    sort: sort(),
    ...range,
    ...headOptions,
  }),
  check: ({ token: symbol, ...params }) => {
    const { filters } = splitFilters(params)
    checkFilters(filters)
    checkSide(filters)
    checkRecordRange(params, isSearched(tokenPlan(symbol, filters)))
  },
  ...recordLists('always'),
  list: 'transactions',
  source: {
    state: [],
    isFeed: true,
    isSearched: ({ token: symbol, ...params }) => isSearched(tokenPlan(symbol, splitFilters(params).filters)),
    open: async (context, { token: symbol, ...params }) => {
      await requireToken(context, symbol)
      const { filters, asked } = splitFilters(params)
      const plan = tokenPlan(symbol, await resolveFilters(context, filters))
      return plannedRecords(context, plan, { ...asked, contract: 'always' })
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading', 'replaced'],
  example: { token: 'iost', page: '1', size: '5' },
})

const { start_block, end_block, start_time, end_time } = range
const blockRange = { start_block, end_block, start_time, end_time }

function checkAsked({ start_date, end_date, ...blocks }: Dates & Omit<RowRange, 'start_date' | 'end_date'>) {
  checkStepDates({ start_date, end_date })
  checkRange({
    ...blocks,
    ...(start_date === undefined ? {} : { start_date: startOfDay(start_date) }),
    ...(end_date === undefined ? {} : { end_date: startOfDay(end_date + 1) - 1n }),
  })
}

const supplyRow = shape({
  date: text('First UTC day of the step.', '该周期的首个 UTC 日期。'),
  complete: flag(
    'Whether the step is over and complete: false for the step of the last published block, whose figures are preliminary, and for a step within which a range of blocks or times begins or ends.',
    '该周期是否已结束且完整：最新已发布区块所在的周期（数值截至该区块）以及区块或时间区间的起点、终点所在的周期为 false。',
  ),
  issued: text('Issued in it, in token units.', '期间发行的数量（代币单位）。'),
  destroyed: text('Destroyed in it, in token units.', '期间销毁的数量（代币单位）。'),
  supply: text('Supply at its end, in token units.', '期末供应量（代币单位）。'),
  holders: count('Owners with an available balance above 0 at its end.', '期末可用余额大于 0 的持有者数量。'),
})

/** Supply, issue and destruction of a token over time. */
export const getSupplyHistory = defineAction({
  module: 'token',
  action: 'get-supply-history',
  title: { en: 'Supply of a token over time', zh: '代币供应量历史' },
  summary: {
    en: 'Amounts of a token that were issued and destroyed in each UTC day, week or month of the range, and its supply and holders at the end of each, oldest first, at most 400 rows. Weeks and months are whole, also where start_date or end_date is within one; with blocks or times, the first and the last row have the figures of their part within the range. Those before the first block and after the last published one are left out. Without an end the range ends with the day of the last published block, without a start it has 30 days.',
    zh: '区间内每个 UTC 日、周或月的代币发行与销毁数量，以及期末的供应量与持有者数量，从早到晚排列，最多 400 行。周与月总是完整的，即使 start_date 或 end_date 在其中间；以区块或时间限定时，首行与末行只含区间内部分的数值。首个区块之前与最新已发布区块之后的不列出。不提供终点时截至最新已发布区块所在日期，不提供起点时共 30 天。',
  },
  params: Type.Object({ token: token(), step: step('day'), ...dates, ...blockRange }),
  check: checkAsked,
  result: listOfRows('steps', supplyRow, { en: 'Days, weeks or months.', zh: '日、周或月的列表。' }),
  list: 'steps',
  run: async (context, { token: symbol, step: by, ...asked }) => {
    const found = await requireNamed(context, 'token', symbol)
    const steps = await requestedSteps(context, { step: by, ...asked })
    const supplies = await readSupplies(context.view, found, listStepHeights(steps))
    const rows = steps.map(({ first, isWhole }, at) => ({
      date: formatDate(first),
      complete: isWhole,
      ...supplies[at],
    }))
    return buildWholeList('steps', rows)
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { token: 'iost', step: 'day' },
})

const baseTokenRow = shape({
  symbol: text('Name of the token.', '代币名称。'),
  full_name: text('Full name of the token.', '代币全名。'),
  holder_count: count('Number of owners with a balance above 0.', '余额大于 0 的持有者数。'),
  issuer: text('Issuer; empty if the token was recycled.', '发行者；代币被回收后为空。'),
  decimal: count('Decimals of the token.', '代币小数位数。'),
  current_supply: exact(
    'Current supply (issued minus destroyed), in token units.',
    '当前供应量，即已发行减去已销毁的数量（代币单位）。',
  ),
  total_supply: text('Maximum supply, in token units.', '最大供应量（代币单位）。'),
  ...transferability,
  created_at: defineCreatedTime(),
})

export const getBaseTokenList = defineList({
  module: 'base',
  action: 'get-token-list',
  name: 'get-base-token-list',
  title: { en: 'Tokens', zh: '代币列表' },
  summary: {
    en: 'All tokens of the chain, sorted by number of holders, most first, then by symbol. Tokens without holders come last.',
    zh: '链上的全部代币，按持有者数从多到少排列，数量相同时按符号排列。没有持有者的代币排在最后。',
  },
  params: Type.Object({ ...paging }),
  result: listOfRows('tokens', baseTokenRow, { en: 'Tokens of this page.', zh: '代币列表。' }),
  list: 'tokens',
  source: {
    state: [tokens, statistics],
    open: async ({ view }) => {
      const total = (await view.get(statistics, STATISTICS))?.token_count ?? 0
      return createOrderListing({ index: tokens, order: 'byHolders' }, total, doc => ({
        symbol: doc.symbol,
        full_name: doc.full_name,
        holder_count: doc.holder_count,
        issuer: doc.issuer,
        decimal: doc.decimal,
        current_supply: toAmount(doc.current_supply, doc.decimal),
        total_supply: formatUnits(doc.total_supply, doc.decimal),
        ...toTransferability(doc),
        created_at: toIso(doc.time),
      }))
    },
  },
  isOfStore: true,
  fails: [],
  example: { page: '1', size: '10' },
})
