import { Type } from '@sinclair/typebox'
import { openBook } from './books/open-book.ts'
import type { Context } from './define.ts'
import { resolveFilters, resolveOwners } from './find/owner.ts'
import { defineList } from './list/paging.ts'
import { accountPlan, isSearched, plannedRecords } from './list/record-plan.ts'
import { csvLayout } from './request/options.ts'
import { owners, paging, sort } from './request/parameter-types.ts'
import { headOptions, range } from './request/range.ts'
import {
  checkFilters,
  checkRecordRange,
  counterparty,
  direction,
  failedOnly,
  funcName,
  splitFilters,
  textFilters,
  tokens,
} from './request/record-filters.ts'
import { badRequest } from './request/refusals.ts'
import { createRecordBookings, recordLists } from './shape/records.ts'

const recordFilters = {
  direction: direction({
    en: 'Return only rows that moved a token to the account (in) or from it (out). A movement from an account to itself is neither.',
    zh: '只返回转入该账户（in）或从该账户转出（out）代币的记录。账户转给自己的不属于任何一种。',
  }),
  counterparty: counterparty({
    en: 'Return only rows with this counterparty: an account, a contract id, a public key that owns tokens, or 0.',
    zh: '只返回对方为此账户的记录；也可以是合约 ID、持有代币的公钥或 0。',
  }),
  token: tokens({
    en: 'Return only rows that moved one of these tokens to or from the account; up to 50, joined by commas.',
    zh: '只返回这些代币转入或转出该账户的记录；最多 50 个，以英文逗号分隔。',
  }),
  func_name: funcName({
    en: 'Return only the calls of this action that the account itself sent: contract and action name joined by /, as in func_name of receipts.',
    zh: '只返回该账户自己发起的对此方法的调用：合约与方法名以 / 连接，与收据中的 func_name 相同。',
  }),
  failed: failedOnly(),
  ...textFilters,
}

/**
 * Throws 'bad_request' for a book of several accounts: a transfer between two of them would have one line,
 * but belong to both.
 */
function checkBook(account: readonly string[], csv: string): void {
  if (account.length === 1) return
  throw badRequest(
    {
      en: `Parameter 'csv' is '${csv}', which is for a single account; give one name in 'account', and request one file per account.`,
      zh: `参数 'csv' 的值为 '${csv}'，仅适用于单个账户；请在 'account' 中只给出一个名称，并为每个账户分别请求文件。`,
    },
    { parameter: 'account' },
  )
}

/** Calls by an account and token movements to or from it. */
export const getAccountTx = defineList({
  module: 'account',
  action: 'get-account-tx',
  title: { en: 'Account transactions', zh: '账户交易记录' },
  summary: {
    en: 'Actions of an account and token movements to or from it, newest first; sort=asc returns the exact reverse. There is one row per action of a transaction, including failed ones, and one row per token movement (transfer, transferFreeze, issue, destroy) or sign-up that is not itself an action. The filters direction, counterparty, token, func_name, failed, memo, memo_prefix and min_amount can be combined, also with ranges. direction=in, with or without one token, one token, func_name and failed=1 each have a list of their own with seq, total and any page. Other combinations are searched for: rows have an id in place of seq, total may be null, a page may have fewer rows than size, even none, and next in the answer, given as after, goes on where it ended; an answer without next is the end. With several names in account, up to 50 joined by commas, the rows of all of them come in one order, each once, with the names of those it belongs to. Also accepts contract ids, public keys that own tokens, and 0.',
    zh: '账户调用的方法以及转入、转出该账户的代币，最新的在前；sort=asc 时顺序完全相反。交易中的每个方法调用（包括失败的）为一行；并非由方法直接产生的代币变动（transfer、transferFreeze、issue、destroy）和账户注册也各为一行。筛选条件 direction、counterparty、token、func_name、failed、memo、memo_prefix、min_amount 可以组合使用，也可与区间同时使用。direction=in（可另加一个代币）、单个 token、func_name、failed=1 各有专门的列表，带 seq、total，可访问任意页。其他组合需要逐条查找：记录以 id 代替 seq，total 可能为 null，一页的行数可能少于 size 甚至为零；将响应中的 next 作为 after 传入即可从结束处继续，没有 next 即为末尾。account 可为多个名称（最多 50 个，以英文逗号分隔），此时这些账户的记录按同一顺序返回，每条一次，并注明属于其中哪些账户。也可查询合约 ID、持有代币的公钥和 0。',
  },
  params: Type.Object({
    account: owners(),
    ...recordFilters,
    ...paging,
    sort: sort(),
    ...range,
    ...headOptions,
    csv: csvLayout('koinly'),
  }),
  check: params => {
    if (params.csv !== undefined) checkBook(params.account, params.csv)
    const { filters } = splitFilters(params)
    checkFilters(filters)
    checkRecordRange(params, isSearched(accountPlan([''], filters, params.account.length > 1)))
  },
  ...recordLists('compat'),
  list: 'transactions',
  source: {
    state: [],
    isFeed: true,
    isSearched: ({ account, ...params }) =>
      isSearched(accountPlan([''], splitFilters(params).filters, account.length > 1)),
    open: async (found, { account, csv, ...params }) => {
      // Books need fields that the old service did not have.
      const context: Context = csv === undefined ? found : { ...found, compat: 'none' }
      const names = await resolveOwners(context, account)
      const { filters, asked } = splitFilters(params)
      const [only = ''] = names
      const book =
        csv &&
        openBook(context, {
          csv,
          account: only,
          tokens: filters.token ?? [],
          filters,
          range: asked,
          bookingsOf: createRecordBookings(only),
        })
      const plan = accountPlan(names, await resolveFilters(context, filters), account.length > 1)
      const form = { contract: 'compat', isBook: csv !== undefined } as const
      return { ...(await plannedRecords(context, plan, { ...asked, ...form })), book }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading', 'replaced'],
  example: { account: 'busyhub', page: '1', size: '5' },
})
