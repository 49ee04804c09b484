import { Type } from '@sinclair/typebox'
import { foundFilters, requireContract } from './find/owner.ts'
import { defineList } from './list/paging.ts'
import { contractList, contractPlan, isSearched, plannedRecords } from './list/record-plan.ts'
import { actionName, contract, paging, sort } from './request/parameter-types.ts'
import { checkHeadRange, headOptions, range } from './request/range.ts'
import {
  checkContractFilters,
  checkRecordRange,
  counterparty,
  direction,
  failedOnly,
  hasFilters,
  splitFilters,
  textFilters,
  tokens,
} from './request/record-filters.ts'
import { listedRecords, recordLists } from './shape/records.ts'

/** Calls of a contract, and token movements that it recorded. */
export const getContractTx = defineList({
  module: 'contract',
  action: 'get-contract-tx',
  title: { en: 'Contract transactions', zh: '合约交易记录' },
  summary: {
    en: 'Actions of a contract, including failed ones, and token movements recorded by it, newest first; sort=asc returns the exact reverse. With action_name, only rows of that action are returned; with other filters, rows are searched for as described in get-account-tx.',
    zh: '合约的方法调用（包括失败的）以及合约记录的代币变动，最新的在前；sort=asc 时顺序完全相反。指定 action_name 时只返回该方法的记录；使用其他筛选条件时记录需要逐条查找，见 get-account-tx 的说明。',
  },
  params: Type.Object({
    contract: contract(),
    action_name: actionName(),
    direction: direction({
      en: 'Only for the contract token.iost, together with counterparty: rows that moved a token from the counterparty (in) or to it (out).',
      zh: '仅与 counterparty 一起用于 token.iost：从对方转出（in）或转入对方（out）代币的记录。',
    }),
    counterparty: counterparty({
      en: 'Return only rows with this party: an account, a contract id, a public key that owns tokens, or 0.',
      zh: '只返回有此账户参与的记录；也可以是合约 ID、持有代币的公钥或 0。',
    }),
    token: tokens({
      en: 'For the contract token.iost: return only rows that moved one of these tokens; up to 50, joined by commas.',
      zh: '用于 token.iost：只返回这些代币变动的记录；最多 50 个，以英文逗号分隔。',
    }),
    failed: failedOnly(),
    ...textFilters,
    ...paging,
    sort: sort(),
    ...range,
    ...headOptions,
  }),
  check: params => {
    if (!hasFilters(params)) return checkHeadRange(params)
    const { filters } = splitFilters(params)
    checkContractFilters(params.contract, filters)
    checkRecordRange(params, isSearched(contractPlan(params.contract, params.action_name, filters)))
  },
  ...recordLists('always'),
  list: 'transactions',
  source: {
    state: [],
    isFeed: true,
    isSearched: ({ contract: id, action_name, ...params }) =>
      isSearched(contractPlan(id, action_name, splitFilters(params).filters)),
    open: async (context, { contract: id, action_name, ...params }) => {
      await requireContract(context, id)
      const { filters, asked } = splitFilters(params)
      if (!hasFilters(filters))
        return listedRecords(context, contractList(id, action_name), { ...asked, contract: 'always' })
      const plan = contractPlan(id, action_name, await foundFilters(context, filters))
      return plannedRecords(context, plan, { ...asked, contract: 'always' })
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading', 'replaced'],
  example: { contract: 'token.iost', action_name: 'transfer', page: '1', size: '5' },
})
