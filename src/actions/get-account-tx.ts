import { Type } from '@sinclair/typebox'
import { listOf } from '#indices/list.ts'
import { defineAction } from './define.ts'
import { ownerOf } from './find/owner.ts'
import { rawOf } from './list/paging.ts'
import { pageOfRecords } from './list/records.ts'
import { owner, paging, sort } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { listOfRows } from './shape/results.ts'
import { recordRow, rowsFrom } from './shape/rows.ts'

/** Calls by an account and movements to or from it. */
export const getAccountTx = defineAction({
  module: 'account',
  action: 'get-account-tx',
  title: { en: 'Account transactions', zh: '账户交易记录' },
  summary: {
    en: 'Actions of an account and token movements to or from it, newest first; sort=asc returns the exact reverse. There is one row per action of a transaction, including failed ones, and one row per token movement (transfer, transferFreeze, issue, destroy) or sign-up that is not itself an action. Every page can be requested, at any depth. start_block, end_block, start_time and end_time limit the rows to a range that includes both ends; total and pages refer to the limited list. Also accepts contract ids, public keys that own tokens, and 0.',
    zh: '账户调用的方法以及转入、转出该账户的代币，最新的在前；sort=asc 时顺序完全相反。交易中的每个方法调用（包括失败的）为一行；并非由方法直接产生的代币变动（transfer、transferFreeze、issue、destroy）和账户注册也各为一行。可访问任意页，无深度限制。start_block、end_block、start_time、end_time 用于限定区间，区间含首尾；total 与分页按筛选结果计算。也可查询合约 ID、持有代币的公钥和 0。',
  },
  params: Type.Object({ account: owner(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: listOfRows('transactions', recordRow('compat'), { en: 'Records of this page.', zh: '记录列表。' }),
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
