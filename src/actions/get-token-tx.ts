import { Type } from '@sinclair/typebox'
import { listOf } from '#indices/list.ts'
import { foundFilters, requireToken } from './find/owner.ts'
import { defineList } from './list/paging.ts'
import { isSearched, plannedRecords, tokenPlan } from './list/record-plan.ts'
import { paging, sort, token } from './request/parameter-types.ts'
import { checkHeadRange, headOptions, range } from './request/range.ts'
import {
  checkFilters,
  checkRecordRange,
  checkSide,
  counterparty,
  direction,
  funcName,
  hasFilters,
  splitFilters,
  textFilters,
} from './request/record-filters.ts'
import { listedRecords, recordLists } from './shape/records.ts'

/** All movements of a token. */
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
    if (!hasFilters(params)) return checkHeadRange(params)
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
      if (!hasFilters(filters)) return listedRecords(context, listOf.token(symbol), { ...asked, contract: 'always' })
      const plan = tokenPlan(symbol, await foundFilters(context, filters))
      return plannedRecords(context, plan, { ...asked, contract: 'always' })
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading', 'replaced'],
  example: { token: 'iost', page: '1', size: '5' },
})
