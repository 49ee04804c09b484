import { Type } from '@sinclair/typebox'
import { toIso } from '#chain/time.ts'
import { accounts } from '#indices/account.ts'
import { listOf } from '#indices/list.ts'
import { defineAction } from './define.ts'
import { unknown } from './find/unknown.ts'
import { rawOf } from './list/paging.ts'
import { pageOfRecords } from './list/records.ts'
import { account, paging, sort } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { createdAt, listOfRows, shape, text, txHash } from './shape/results.ts'

const row = shape({
  name: text('Account name.', '账户名。'),
  created_by: text('Account that created this account.', '创建者账户。'),
  created_at: createdAt(),
  tx_hash: txHash(),
})

/** The accounts an account created. */
export const getSubaccountList = defineAction({
  module: 'account',
  action: 'get-subaccount-list',
  title: { en: 'Sub-accounts', zh: '子账户列表' },
  summary: {
    en: 'Accounts created by this account, newest first; sort=asc returns the exact reverse. The creator is the publisher of the sign-up transaction. start_block, end_block, start_time and end_time limit the list to accounts created in a range that includes both ends; total and pages refer to the limited list.',
    zh: '由该账户创建的账户，最新的在前；sort=asc 时顺序完全相反。创建者是注册交易的发布者。start_block、end_block、start_time、end_time 用于限定创建区间，区间含首尾；total 与分页按筛选结果计算。',
  },
  params: Type.Object({ account: account(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: listOfRows('accounts', row, { en: 'Accounts of this page.', zh: '账户列表。' }),
  list: 'accounts',
  run: async (context, { account: name, ...asked }) => {
    const { view } = context
    if ((await view.get(accounts, name)) === undefined) throw unknown(context, 'account', name)
    const { total, docs } = await pageOfRecords(context, listOf.created(name), asked)
    return {
      accounts: docs.map(doc => ({
        name: doc.to,
        created_by: doc.creator ?? name,
        created_at: toIso(doc.time),
        tx_hash: doc.tx_hash,
      })),
      page: rawOf(asked.page),
      size: asked.size,
      total,
    }
  },
  example: { account: 'admin' },
})
