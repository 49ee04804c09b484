import { Type } from '@sinclair/typebox'
import { listOf } from '#indices/list.ts'
import { requireContract } from './find/listed.ts'
import { recordsOf } from './list/numbered.ts'
import { defineList } from './list/paging.ts'
import { actionName, contract, paging, sort } from './request/parameter-types.ts'
import { checkHeadRange, headOptions, range } from './request/range.ts'
import { recordLists } from './shape/record-row.ts'
import { shownRecords } from './shape/rows.ts'

/** What was done with a contract. */
export const getContractTx = defineList({
  module: 'contract',
  action: 'get-contract-tx',
  title: { en: 'Contract transactions', zh: '合约交易记录' },
  summary: {
    en: 'Actions of a contract, including failed ones, and token movements recorded by it, newest first; sort=asc returns the exact reverse. With action_name, only rows of that action are returned.',
    zh: '合约的方法调用（包括失败的）以及合约记录的代币变动，最新的在前；sort=asc 时顺序完全相反。指定 action_name 时只返回该方法的记录。',
  },
  params: Type.Object({
    contract: contract(),
    action_name: actionName(),
    ...paging,
    sort: sort(),
    ...range,
    ...headOptions,
  }),
  check: checkHeadRange,
  ...recordLists('always'),
  list: 'transactions',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { contract: id, action_name, ...asked }) => {
      const { compat, head } = context
      await requireContract(context, id)
      const list = action_name === undefined ? listOf.contract(id) : listOf.action(id, action_name)
      const found = await recordsOf(context, list, asked)
      return { ...found, ...shownRecords({ contract: 'always', compat, head }) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading', 'replaced'],
  example: { contract: 'token.iost', action_name: 'transfer', page: '1', size: '5' },
})
