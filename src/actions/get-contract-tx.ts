import { Type } from '@sinclair/typebox'
import { contracts } from '#indices/contract.ts'
import { listOf } from '#indices/list.ts'
import { defineAction } from './define.ts'
import { unknown } from './find/unknown.ts'
import { rawOf } from './list/paging.ts'
import { pageOfRecords } from './list/records.ts'
import { actionName, contract, paging, sort } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { listOfRows } from './shape/results.ts'
import { recordRow, rowsFrom } from './shape/rows.ts'

/** What was done with a contract. */
export const getContractTx = defineAction({
  module: 'contract',
  action: 'get-contract-tx',
  title: { en: 'Contract transactions', zh: '合约交易记录' },
  summary: {
    en: 'Actions of a contract, including failed ones, and token movements recorded by it, newest first; sort=asc returns the exact reverse. With action_name, only rows of that action are returned. Every page can be requested, at any depth. start_block, end_block, start_time and end_time limit the rows to a range that includes both ends; total and pages refer to the limited list.',
    zh: '合约的方法调用（包括失败的）以及合约记录的代币变动，最新的在前；sort=asc 时顺序完全相反。指定 action_name 时只返回该方法的记录。可访问任意页，无深度限制。start_block、end_block、start_time、end_time 用于限定区间，区间含首尾；total 与分页按筛选结果计算。',
  },
  params: Type.Object({ contract: contract(), action_name: actionName(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: listOfRows('transactions', recordRow('always'), { en: 'Records of this page.', zh: '记录列表。' }),
  list: 'transactions',
  run: async (context, { contract: id, action_name, ...asked }) => {
    const { view, compat } = context
    if ((await view.get(contracts, id)) === undefined) throw unknown(context, 'contract', id)
    const list = action_name === undefined ? listOf.contract(id) : listOf.action(id, action_name)
    const { total, docs } = await pageOfRecords(context, list, asked)
    const transactions = await rowsFrom(view, docs, { contract: 'always', compat })
    return { transactions, page: rawOf(asked.page), size: asked.size, total }
  },
  example: { contract: 'token.iost', action_name: 'transfer', page: '1', size: '5' },
})
