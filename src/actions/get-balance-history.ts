import { Type } from '@sinclair/typebox'
import { balanceId } from '#indices/balance.ts'
import { seriesOf } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import { openBook } from './books/open-book.ts'
import { ownerOf } from './find/owner.ts'
import { unknown } from './find/unknown.ts'
import { changesOf } from './list/changes.ts'
import { numberedRows } from './list/numbered.ts'
import { defineList } from './list/paging.ts'
import { csvLayout } from './request/csv.ts'
import { owner, paging, sort, token } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { balanceChangeRows, changesIn } from './shape/balance-changes.ts'
import { changeFields } from './shape/changes.ts'
import { described, listOfRows, shape, text } from './shape/results.ts'

const textOrNull = (en: string, zh: string) => described(Type.Union([Type.String(), Type.Null()]), en, zh)

const { seq, ...fields } = {
  ...changeFields,
  tx_hash: textOrNull(
    'Transaction hash; null for a release and a contribute.',
    '交易哈希；解冻与出块贡献时为 null。',
  ),
  action: text(
    'What did it: transfer, transferFreeze, issue, destroy; contribute (of a block); ram (used or given back); release (a frozen amount came due).',
    '变动来源：transfer、transferFreeze、issue、destroy；contribute（出块贡献）；ram（占用或退回内存）；release（冻结金额到期）。',
  ),
  counterparty: textOrNull('The other party; null where there is none.', '另一方；没有时为 null。'),
  memo: textOrNull('Memo of a transfer; null for anything else.', '转账备注；其他变动为 null。'),
  change: text(
    'Change of available and frozen together, in token units; 0 for a release.',
    '可用与冻结合计的变动（代币单位）；解冻时为 0。',
  ),
  balance: text('Available after it, in token units.', '变动后的可用余额（代币单位）。'),
  frozen: text('Frozen after it, in token units.', '变动后的冻结余额（代币单位）。'),
}
const title = { en: 'Changes of this page.', zh: '变动列表。' }

/** Every change of a balance. */
export const getBalanceHistory = defineList({
  module: 'account',
  action: 'get-balance-history',
  title: { en: 'Balance of an account over time', zh: '账户余额历史' },
  summary: {
    en: 'Every change of what an owner has of a token (iost if none is given), newest first, with what did it and what there was after it; sort=asc returns the exact reverse. A frozen amount that comes due is a row of its own; a transfer to oneself changes nothing and has none.',
    zh: '持有者某一代币（默认 iost）余额的全部变动，最新的在前，包括变动来源与变动后的余额；sort=asc 时顺序完全相反。冻结金额到期时单独列为一行；转给自己不产生变动，不列出。',
  },
  params: Type.Object({
    account: owner(),
    token: Type.Optional(token()),
    ...paging,
    sort: sort(),
    ...range,
    csv: csvLayout('koinly', 'ledger'),
  }),
  check: checkRange,
  result: listOfRows('changes', shape({ seq, ...fields }), title),
  compatResult: listOfRows('changes', shape(fields), title),
  list: 'changes',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { account, token: symbol = 'iost', csv, ...asked }) => {
      const { view, compat } = context
      const [name, found] = await Promise.all([ownerOf(context, account), view.get(tokens, symbol)])
      if (found === undefined) throw unknown(context, 'token', symbol)
      const all = await changesOf(view, seriesOf.balance(balanceId(symbol, name)))
      const listing = {
        ...(await numberedRows(context, all, asked)),
        rows: balanceChangeRows({ owner: name, decimal: found.decimal, compat }),
      }
      if (csv === undefined) return listing
      const book = { csv, account: name, tokens: [symbol], range: asked, bookingsOf: changesIn(symbol) }
      return { ...listing, book: openBook(context, book) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub', token: 'iost', page: '1', size: '5' },
})
