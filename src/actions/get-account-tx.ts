import { Type } from '@sinclair/typebox'
import { filteredList } from './find/listed.ts'
import { ownerOf } from './find/owner.ts'
import { defineList } from './list/listing.ts'
import { recordsOf } from './list/records.ts'
import { checkHeadRange, headOptions } from './request/head.ts'
import { owner, paging, sort } from './request/parameter-types.ts'
import { range } from './request/range.ts'
import { checkFilters, recordFilters } from './request/record-filters.ts'
import { recordLists } from './shape/record-row.ts'
import { shownRecords } from './shape/rows.ts'

/** Calls by an account and movements to or from it. */
export const getAccountTx = defineList({
  module: 'account',
  action: 'get-account-tx',
  title: { en: 'Account transactions', zh: '账户交易记录' },
  summary: {
    en: 'Actions of an account and token movements to or from it, newest first; sort=asc returns the exact reverse. There is one row per action of a transaction, including failed ones, and one row per token movement (transfer, transferFreeze, issue, destroy) or sign-up that is not itself an action. With token, only rows that moved that token to or from the account are returned; with func_name, only calls of that action that the account itself sent; with failed=1, only rows of failed transactions. At most one of the three can be given. Also accepts contract ids, public keys that own tokens, and 0.',
    zh: '账户调用的方法以及转入、转出该账户的代币，最新的在前；sort=asc 时顺序完全相反。交易中的每个方法调用（包括失败的）为一行；并非由方法直接产生的代币变动（transfer、transferFreeze、issue、destroy）和账户注册也各为一行。指定 token 时只返回该代币转入或转出该账户的记录；指定 func_name 时只返回该账户自己发起的对此方法的调用；failed=1 时只返回失败交易的记录。三者只能提供其中一个。也可查询合约 ID、持有代币的公钥和 0。',
  },
  params: Type.Object({
    account: owner(),
    ...recordFilters,
    ...paging,
    sort: sort(),
    ...range,
    ...headOptions,
  }),
  check: params => {
    checkHeadRange(params)
    checkFilters(params)
  },
  ...recordLists('compat'),
  list: 'transactions',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { account, token, func_name, failed, ...asked }) => {
      const name = await ownerOf(context, account)
      const list = await filteredList(context, name, { token, func_name, failed })
      const found = await recordsOf(context, list, asked)
      return { ...found, ...shownRecords({ contract: 'compat', compat: context.compat, head: context.head }) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading', 'replaced'],
  example: { account: 'busyhub', page: '1', size: '5' },
})
