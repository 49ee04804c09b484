import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { tokens } from '#indices/token.ts'
import { type Context, defineAction } from './define.ts'
import { toNull, unknown } from './find/loading.ts'
import { findOwners } from './find/owner.ts'
import { owner, token, tokenAs } from './request/parameter-types.ts'
import { defineListParameter } from './request/parameters.ts'
import { badRequest } from './request/refusals.ts'
import { defineRows, shape, text } from './shape/results.ts'

/** Maximum number of balances in one call. */
const MAX_BALANCES = 500

const entry = shape({
  account: text('Name of the account or other owner.', '账户或其他持有者的名称。'),
  token: Type.Optional(text('Token symbol; only with tokens.', '代币符号；仅在使用 tokens 时出现。')),
  balance: text('Available balance, in token units.', '可用余额（代币单位）。'),
  frozen_balance: text('Frozen balance that is not due yet, in token units.', '尚未到期的冻结余额（代币单位）。'),
})

/** The balances of several owners at one height. */
export const getBalances = defineAction({
  module: 'account',
  action: 'get-balances',
  title: { en: 'Balances of several accounts', zh: '多个账户的余额' },
  summary: {
    en: `Balances of one token, or of several with tokens, for up to 50 accounts, all of the same block. There is one entry for each account, in the order requested; an account that never occurred on the chain gives null. With tokens there is one entry for each account and token, the tokens of an account in the order requested, at most ${MAX_BALANCES} in all. An account that never had the token has 0. Frozen amounts that are due count as available. Also accepts contract ids, public keys that own tokens, and 0.`,
    zh: `一次查询最多 50 个账户的某一代币余额，或以 tokens 查询多种代币的余额，全部取自同一区块。每个账户一项，按请求的顺序排列；使用 tokens 时每个账户的每种代币一项，同一账户的代币按请求的顺序排列，总计最多 ${MAX_BALANCES} 项。从未在链上出现过的账户为 null，从未持有该代币的账户余额为 0。已到期的冻结金额计入可用余额。也可使用合约 ID、持有代币的公钥和 0。`,
  },
  params: Type.Object({
    accounts: defineListParameter(owner(), {
      description: {
        en: 'Account names, up to 50, joined by commas; a name may occur more than once.',
        zh: '账户名，最多 50 个，以英文逗号分隔；可重复。',
      },
      example: 'busyhub,tokenboss,deadaddr',
      sample: 'accounts',
      foreignNames: ['account', 'addresses', 'address', 'names', 'owners', 'users'],
    }),
    token: Type.Optional(
      tokenAs({
        en: 'Token name (symbol); iost if neither token nor tokens is given.',
        zh: '代币名称（符号）；token 与 tokens 均未提供时为 iost。',
      }),
    ),
    tokens: Type.Optional(
      defineListParameter(token(), {
        description: {
          en: 'Token symbols, up to 50, joined by commas; instead of token.',
          zh: '代币符号，最多 50 个，以英文逗号分隔；用于代替 token。',
        },
        example: 'iost,ram',
        foreignNames: ['symbols', 'contracts'],
      }),
    ),
  }),
  check: ({ accounts, token: symbol, tokens: symbols }) => {
    if (symbols === undefined) return
    if (symbol !== undefined)
      throw badRequest(
        {
          en: `Parameters 'token' (${symbol}) and 'tokens' cannot be combined: name all tokens in 'tokens'.`,
          zh: `参数 'token'（${symbol}）与 'tokens' 不能同时使用：请在 'tokens' 中列出所有代币。`,
        },
        { parameter: 'token' },
      )
    if (accounts.length * symbols.length > MAX_BALANCES)
      throw badRequest(
        {
          en: `${accounts.length} accounts with ${symbols.length} tokens are ${accounts.length * symbols.length} balances; a call returns at most ${MAX_BALANCES}. Name fewer accounts or tokens.`,
          zh: `${accounts.length} 个账户与 ${symbols.length} 种代币共 ${accounts.length * symbols.length} 项余额，一次查询最多 ${MAX_BALANCES} 项；请减少账户或代币。`,
        },
        { parameter: 'tokens' },
      )
  },
  result: shape({
    balances: defineRows(
      Type.Union([entry, Type.Null()]),
      'An entry for each account, in the order requested; null for a name that never occurred.',
      '每个账户一项，按请求的顺序排列；从未出现过的名称为 null。',
    ),
  }),
  run: async (context, { accounts, token: symbol = 'iost', tokens: several }) => {
    const { view } = context
    const symbols = several ?? [symbol]
    const decimals = await requireDecimals(context, symbols)
    const owners = await findOwners(view, accounts)
    const pairs = [...new Set(owners.values())].flatMap(name => symbols.map(each => balanceId(each, name)))
    const ids = [...new Set(pairs)]
    const docs = await view.getMany(balances, ids)
    const byId = new Map(ids.map((id, at) => [id, docs[at]]))
    return {
      balances: accounts.flatMap(given => {
        const account = owners.get(given)
        return symbols.map(each => {
          if (account === undefined) return toNull(unknown(context, 'owner', given))
          const doc = byId.get(balanceId(each, account))
          const decimal = decimals.get(each) ?? 0
          return {
            account,
            ...(several !== undefined ? { token: each } : {}),
            balance: fromUnits(doc?.amount ?? 0n, decimal),
            frozen_balance: fromUnits(doc?.frozen ?? 0n, decimal),
          }
        })
      }),
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { accounts: 'busyhub,tokenboss,deadaddr' },
})

/** Decimal places by token. Throws 'not_found' for a token that never existed. */
async function requireDecimals(context: Context, symbols: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = await context.view.getMany(tokens, symbols)
  return new Map(
    symbols.map((symbol, at) => {
      const doc = found[at]
      if (doc === undefined) throw unknown(context, 'token', symbol)
      return [symbol, doc.decimal] as const
    }),
  )
}
