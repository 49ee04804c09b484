import { Type } from '@sinclair/typebox'
import { listOf } from '#indices/list.ts'
import { requireToken } from './find/listed.ts'
import { recordsOf } from './list/numbered.ts'
import { defineList } from './list/paging.ts'
import { paging, sort, token } from './request/parameter-types.ts'
import { checkHeadRange, headOptions, range } from './request/range.ts'
import { recordLists } from './shape/record-row.ts'
import { shownRecords } from './shape/rows.ts'

/** Every movement of a token. */
export const getTokenTx = defineList({
  module: 'token',
  action: 'get-token-tx',
  title: { en: 'Token transactions', zh: '代币交易记录' },
  summary: {
    en: 'All movements of a token (transfer, transferFreeze, issue, destroy), newest first; sort=asc returns the exact reverse. There is one row per movement, whether an action made it directly or a contract within one; an action that failed moved nothing and has no row. Left out is the contribute that the base transaction of each block issues to the producer of the block before it; current_supply in get-token-detail includes it.',
    zh: '代币的全部变动（transfer、transferFreeze、issue、destroy），最新的在前；sort=asc 时顺序完全相反。每次变动为一行，无论由方法直接产生还是由合约在执行中产生；失败的方法没有变动，因此没有记录。每个区块的 base 交易向上一区块的生产者发放的 contribute 不在其中；get-token-detail 的 current_supply 已包含这部分。',
  },
  params: Type.Object({ token: token(), ...paging, sort: sort(), ...range, ...headOptions }),
  check: checkHeadRange,
  ...recordLists('always'),
  list: 'transactions',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { token: symbol, ...asked }) => {
      const { compat, head } = context
      await requireToken(context, symbol)
      const found = await recordsOf(context, listOf.token(symbol), asked)
      return { ...found, ...shownRecords({ contract: 'always', compat, head }) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading', 'replaced'],
  example: { token: 'iost', page: '1', size: '5' },
})
