import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { tokens } from '#indices/token.ts'
import { defineAction } from './define.ts'
import { ownersOf } from './find/owner.ts'
import { nullFor, unknown } from './find/unknown.ts'
import { owner, token } from './request/parameter-types.ts'
import { severalOf, withFallback } from './request/parameters.ts'
import { rowsOf, shape, text } from './shape/results.ts'

const entry = shape({
  account: text('Name of the account or other owner.', '账户或其他持有者的名称。'),
  balance: text('Available balance, in token units.', '可用余额（代币单位）。'),
  frozen_balance: text(
    'Frozen balance that is not due yet, in token units.',
    '尚未到期的冻结余额（代币单位）。',
  ),
})

/** The balances of several owners at one height. */
export const getBalances = defineAction({
  module: 'account',
  action: 'get-balances',
  title: { en: 'Balances of several accounts', zh: '多个账户的余额' },
  summary: {
    en: 'Balances of one token for up to 50 accounts, all of the same block. There is one entry for each account, in the order requested; an account that never occurred on the chain gives null. An account that never had the token has 0. Frozen amounts that are due count as available. Also accepts contract ids, public keys that own tokens, and 0.',
    zh: '一次查询最多 50 个账户的某一代币余额，全部取自同一区块。每个账户一项，按请求的顺序排列；从未在链上出现过的账户为 null，从未持有该代币的账户余额为 0。已到期的冻结金额计入可用余额。也可使用合约 ID、持有代币的公钥和 0。',
  },
  params: Type.Object({
    accounts: severalOf(owner(), {
      description: {
        en: 'Account names, up to 50, joined by commas; a name may occur more than once.',
        zh: '账户名，最多 50 个，以英文逗号分隔；可重复。',
      },
      example: 'busyhub,tokenboss,deadaddr',
      sample: 'accounts',
      elsewhere: ['account', 'addresses', 'address', 'names', 'owners', 'users'],
    }),
    token: withFallback(token(), 'iost'),
  }),
  result: shape({
    balances: rowsOf(
      Type.Union([entry, Type.Null()]),
      'An entry for each account, in the order requested; null for a name that never occurred.',
      '每个账户一项，按请求的顺序排列；从未出现过的名称为 null。',
    ),
  }),
  run: async (context, { accounts, token: symbol }) => {
    const { view } = context
    const found = await view.get(tokens, symbol)
    if (found === undefined) throw unknown(context, 'token', symbol)
    const owners = await ownersOf(view, accounts)
    const names = [...new Set(owners.values())]
    const docs = await view.getMany(
      balances,
      names.map(name => balanceId(symbol, name)),
    )
    const byName = new Map(names.map((name, at) => [name, docs[at]]))
    return {
      balances: accounts.map(given => {
        const account = owners.get(given)
        if (account === undefined) return nullFor(unknown(context, 'owner', given))
        const doc = byName.get(account)
        return {
          account,
          balance: fromUnits(doc?.amount ?? 0n, found.decimal),
          frozen_balance: fromUnits(doc?.frozen ?? 0n, found.decimal),
        }
      }),
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { accounts: 'busyhub,tokenboss,deadaddr' },
})
