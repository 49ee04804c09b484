import { Type } from '@sinclair/typebox'
import { partsOfFuncName } from '#chain/effects.ts'
import { listOf } from '#indices/list.ts'
import type { Context } from './define.ts'
import { requireContract, requireToken } from './find/listed.ts'
import { ownerOf } from './find/owner.ts'
import { recordsOf } from './list/numbered.ts'
import { defineList } from './list/paging.ts'
import { ACTION, CONTRACT, owner, paging, sort, tokenAs } from './request/parameter-types.ts'
import { flag, word } from './request/parameters.ts'
import { checkHeadRange, headOptions, range } from './request/range.ts'
import { badRequest } from './request/refusals.ts'
import { recordLists } from './shape/record-row.ts'
import { shownRecords } from './shape/rows.ts'

/** An action of a contract: what a call names. */
type Func = { readonly contract: string; readonly action: string }

const funcName = () =>
  Type.Optional(
    word<Func>({
      type: 'string',
      description: {
        en: 'Return only the calls of this action that the account itself sent: contract and action name joined by /, as in func_name of receipts.',
        zh: '只返回该账户自己发起的对此方法的调用：合约与方法名以 / 连接，与收据中的 func_name 相同。',
      },
      rule: {
        en: 'a contract id and an action name joined by /, such as token.iost/transfer',
        zh: '以 / 连接的合约 ID 与方法名，例如 token.iost/transfer',
      },
      pattern: `^${CONTRACT}/${ACTION}$`,
      example: 'token.iost/transfer',
      sample: 'function',
      elsewhere: ['action_name', 'function', 'function_name', 'funcname', 'method', 'abi', 'contract'],
      read: text => {
        const { contract, name: action } = partsOfFuncName(text)
        return { contract, action }
      },
    }),
  )

const failedOnly = () =>
  flag({
    description: {
      en: 'With 1, only rows of transactions that failed are returned (status_code other than SUCCESS).',
      zh: '为 1 时只返回失败交易的记录（status_code 不是 SUCCESS）。',
    },
    elsewhere: ['status', 'status_code', 'is_failed', 'is_error', 'iserror', 'error'],
  })

/** Filters of an account's rows: at most one of them is given. */
export const recordFilters = {
  token: Type.Optional(
    tokenAs({
      en: 'Return only rows that moved this token to or from the account.',
      zh: '只返回该代币转入或转出该账户的记录。',
    }),
  ),
  func_name: funcName(),
  failed: failedOnly(),
}

type RecordFilters = {
  readonly token?: string | undefined
  readonly func_name?: Func | undefined
  readonly failed: number
}

/** Throws 'bad_request' when two filters are given: there are lists for each of them, none for two together. */
const checkFilters = ({ token, func_name, failed }: RecordFilters): void => {
  const given = [
    ...(token === undefined ? [] : ['token']),
    ...(func_name === undefined ? [] : ['func_name']),
    ...(failed === 0 ? [] : ['failed']),
  ]
  const [first, second] = given
  if (first === undefined || second === undefined) return
  throw badRequest(
    {
      en: `Parameters '${first}' and '${second}' cannot be combined; give only one of token, func_name and failed=1.`,
      zh: `参数 '${first}' 与 '${second}' 不能同时使用；token、func_name 和 failed=1 只能提供其中一个。`,
    },
    { parameter: second },
  )
}

/**
 * The list of an account's rows that pass the given filter; at most one is given. Throws 'not_found' or
 * 'loading' for a token or a contract that does not exist.
 */
const filteredList = async (
  context: Context,
  account: string,
  { token, func_name, failed }: RecordFilters,
): Promise<string> => {
  if (token !== undefined) {
    await requireToken(context, token)
    return listOf.moved(account, token)
  }
  if (func_name !== undefined) {
    const { contract, action } = func_name
    await requireContract(context, contract)
    return listOf.called(account, contract, action)
  }
  return failed === 1 ? listOf.failed(account) : listOf.account(account)
}

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
