import { Type } from '@sinclair/typebox'
import { listOf } from '#indices/list.ts'
import { defineAction } from './define.ts'
import { ownerOf } from './owner.ts'
import { rawOf } from './paging.ts'
import { owner, paging, sort } from './params.ts'
import { checkRange, range } from './range.ts'
import { pageOfRecords } from './records.ts'
import { listOfRows } from './results.ts'
import { recordRow, rowsFrom } from './rows.ts'

/** What an account did and what moved to or from it. */
export const getAccountTx = defineAction({
  module: 'account',
  action: 'get-account-tx',
  title: { en: 'Records of an account', zh: '账户交易记录' },
  summary: {
    en: 'What an account did and what moved to or from it, newest first; sort=asc is the exact reverse. One row per action of a transaction, failed ones too, and one per movement of tokens (transfer, transferFreeze, issue, destroy) or sign-up that is not an action of its own. Every page is reachable. start_block, end_block, start_time and end_time leave only rows between them, both ends included; total and pages then count those. Contracts, public keys that own tokens and 0 are answered too.',
    zh: '账户的操作及其资产进出，最新在前；sort=asc 为完全相反的顺序。交易的每个方法（包括失败的）一行；不属于方法本身的代币变动（transfer、transferFreeze、issue、destroy）与注册各一行。每一页都可到达。start_block、end_block、start_time、end_time 只保留其间的记录，两端均包含；total 与分页随之按这些记录计算。合约、持有代币的公钥与 0 也可查询。',
  },
  params: Type.Object({ account: owner(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: listOfRows('transactions', recordRow('compat'), 'The records.', '记录列表。'),
  list: 'transactions',
  run: async (context, { account, ...asked }) => {
    const { view, compat } = context
    const name = await ownerOf(context, account)
    const { total, docs } = await pageOfRecords(context, listOf.account(name), asked)
    const transactions = await rowsFrom(view, docs, { contract: 'compat', compat })
    return { transactions, page: rawOf(asked.page), size: asked.size, total }
  },
  example: { account: 'busyhub', page: '1', size: '5' },
})
