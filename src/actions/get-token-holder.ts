import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { balances } from '#indices/balance.ts'
import { tokens } from '#indices/token.ts'
import { unknown } from './find/unknown.ts'
import { defineList } from './list/paging.ts'
import { listingOf } from './list/whole-list.ts'
import { paging, token } from './request/parameter-types.ts'
import { listOfRows, shape, text } from './shape/results.ts'

const row = shape({
  account: text('Account, contract, public key or 0.', '账户、合约、公钥或 0。'),
  balance: text('Available balance, in token units.', '可用余额（代币单位）。'),
  symbol: text('Name of the token.', '代币名称。'),
})

/** The holders of a token. */
export const getTokenHolder = defineList({
  module: 'token',
  action: 'get-token-holder',
  title: { en: 'Token holders', zh: '代币持有者' },
  summary: {
    en: 'Owners with a balance above 0, sorted by balance, largest first, then by name. Contracts, deadaddr and 0 are included. Frozen amounts count only if they are due.',
    zh: '余额大于 0 的持有者，按余额从大到小排列，余额相同时按名称排列，包括合约、deadaddr 与 0。已到期的冻结金额计入余额，未到期的不计入。',
  },
  params: Type.Object({ token: token(), ...paging }),
  result: listOfRows('holders', row, { en: 'Holders of this page.', zh: '持有者列表。' }),
  list: 'holders',
  source: {
    state: [balances, tokens],
    open: async (context, { token: symbol }) => {
      const found = await context.view.get(tokens, symbol)
      if (found === undefined) throw unknown(context, 'token', symbol)
      const order = { index: balances, order: 'holders', group: symbol } as const
      return listingOf(order, found.holder_count, doc => ({
        account: doc.owner,
        balance: fromUnits(doc.amount, found.decimal),
        symbol,
      }))
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { token: 'iost', page: '1', size: '10' },
})
