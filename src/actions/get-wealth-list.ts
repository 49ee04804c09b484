import { Type } from '@sinclair/typebox'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { wealth } from '#indices/wealth.ts'
import { createOrderListing } from './find/listing.ts'
import { defineList } from './list/paging.ts'
import { paging } from './request/parameter-types.ts'
import { exact, listOfRows, shape, text } from './shape/results.ts'
import { toIost } from './shape/values.ts'

const wealthRow = shape({
  symbol: text('Always iost.', '恒为 iost。'),
  account: text('Account or user contract.', '账户或用户合约。'),
  balance: exact('token_balance + vote_balance + frozen_balance.', 'token_balance + vote_balance + frozen_balance。'),
  token_balance: exact('Available IOST.', '可用的 IOST。'),
  vote_balance: exact('IOST locked in votes for producers.', '投票锁定的 IOST。'),
  frozen_balance: exact('Frozen IOST that is not due yet.', '尚未到期的冻结 IOST。'),
})

/** The richest owners of IOST. */
export const getWealthList = defineList({
  module: 'base',
  action: 'get-wealth-list',
  title: { en: 'Wealth list', zh: '财富榜' },
  summary: {
    en: 'Accounts and user contracts, sorted by their total IOST, largest first, then by name. System contracts (*.iost) are left out, since their IOST belongs to others; so are owners with a total of 0.',
    zh: '按 IOST 总额从大到小排列的账户与用户合约，总额相同时按名称排列。系统合约（*.iost）的余额属于他人，不列入；总额为 0 的持有者也不列入。',
  },
  params: Type.Object({ ...paging }),
  result: listOfRows('wealth', wealthRow, { en: 'Owners of this page.', zh: '持有者列表。' }),
  list: 'wealth',
  source: {
    state: [wealth, statistics],
    open: async ({ view }) => {
      const total = (await view.get(statistics, STATISTICS))?.wealth_count ?? 0
      return createOrderListing({ index: wealth, order: 'richest' }, total, doc => ({
        symbol: 'iost',
        account: doc.owner,
        balance: toIost(doc.total),
        token_balance: toIost(doc.token),
        vote_balance: toIost(doc.vote),
        frozen_balance: toIost(doc.frozen),
      }))
    },
  },
  isOfStore: true,
  fails: [],
  example: { page: '1', size: '10' },
})
