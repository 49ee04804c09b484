import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { balances } from '#indices/balance.ts'
import { lists } from '#indices/list.ts'
import { series } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import { asRows, createMemoryListing, createOrderListing } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { readPastHolders } from './find/past-ranking.ts'
import { findMoment } from './find/point.ts'
import { defineList } from './list/paging.ts'
import { paging, token } from './request/parameter-types.ts'
import { checkPoint, hasPoint, point } from './request/range.ts'
import { listOfRows, pointFields, pointShown, shape, text } from './shape/results.ts'

const holderRow = shape({
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
    en: 'Owners with a balance above 0, sorted by balance, largest first, then by name. Contracts, deadaddr and 0 are included. Frozen amounts count only if they are due. With at_block or at_time they are the holders of that point; the first page of a point may take some time, and exports go on for as long as it takes.',
    zh: '余额大于 0 的持有者，按余额从大到小排列，余额相同时按名称排列，包括合约、deadaddr 与 0。已到期的冻结金额计入余额，未到期的不计入。提供 at_block 或 at_time 时为当时的持有者；同一时点的第一页可能需要一些时间，导出则不限时间。',
  },
  params: Type.Object({ token: token(), ...paging, ...point }),
  check: checkPoint,
  result: shape({
    ...listOfRows('holders', holderRow, { en: 'Holders of this page.', zh: '持有者列表。' }).properties,
    ...pointFields,
  }),
  list: 'holders',
  source: {
    state: [balances, tokens, series, lists],
    open: async (context, { token: symbol, ...asked }) => {
      const found = await context.view.get(tokens, symbol)
      if (found === undefined) throw unknown(context, 'token', symbol)
      const rowOf = (account: string, units: bigint) => ({
        account,
        balance: fromUnits(units, found.decimal),
        symbol,
      })
      const then = hasPoint(asked) ? await findMoment(context, asked) : undefined
      if (then !== undefined)
        return {
          ...createMemoryListing(await readPastHolders(context, symbol, then.height), ([owner, units]) =>
            rowOf(owner, units),
          ),
          beside: pointShown(then),
          heights: [then.height],
        }
      const order = { index: balances, order: 'holders', group: symbol } as const
      return asRows(createOrderListing(order, found.holder_count, doc => rowOf(doc.owner, doc.amount)))
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { token: 'iost', page: '1', size: '10' },
})
