import { Type } from '@sinclair/typebox'
import { contracts } from '#indices/contract.ts'
import { listOf } from '#indices/list.ts'
import { defineAction } from './define.ts'
import { rawOf } from './paging.ts'
import { actionName, contract, paging, sort } from './params.ts'
import { checkRange, range } from './range.ts'
import { pageOfRecords } from './records.ts'
import { listOfRows } from './results.ts'
import { recordRow, rowsFrom } from './rows.ts'
import { unknown } from './unknown.ts'

/** What was done with a contract. */
export const getContractTx = defineAction({
  module: 'contract',
  action: 'get-contract-tx',
  title: { en: 'Records of a contract', zh: '合约交易记录' },
  summary: {
    en: 'Actions of a contract, failed ones too, and movements it recorded, newest first; sort=asc is the exact reverse. With action_name only rows of that action. Every page is reachable. start_block, end_block, start_time and end_time leave only rows between them, both ends included; total and pages then count those.',
    zh: '合约的方法调用（包括失败的）及其记录的资产变动，最新在前；sort=asc 为完全相反的顺序。给出 action_name 时只含该方法的记录。每一页都可到达。start_block、end_block、start_time、end_time 只保留其间的记录，两端均包含；total 与分页随之按这些记录计算。',
  },
  params: Type.Object({ contract: contract(), action_name: actionName(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: listOfRows('transactions', recordRow('always'), 'The records.', '记录列表。'),
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
