import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { formatDate } from '#chain/time.ts'
import { balanceId } from '#indices/balance.ts'
import { seriesOf } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import { openBook } from './books/open-book.ts'
import type { Context } from './define.ts'
import { listStepHeights, requestedSteps } from './find/days.ts'
import { type Listing, type Numbered, stepListing } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { numberedRows } from './find/numbered.ts'
import { resolveOwner } from './find/owner.ts'
import { NO_FLOWS, openChangeList, readFlows, type SeriesChange } from './find/series.ts'
import { defineList } from './list/paging.ts'
import { csvLayout } from './request/options.ts'
import { owner, paging, sort, token } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { boundsOfSteps, checkSteps, type RangeOfSteps, type Step, step } from './request/steps.ts'
import { balanceChangeRows, changeFields, createChangeBookings } from './shape/changes.ts'
import { described, listOfRows, shape, stepFields, text } from './shape/results.ts'

const textOrNull = (en: string, zh: string) => described(Type.Union([Type.String(), Type.Null()]), en, zh)

const { seq: changeSeq, ...changeFields } = {
  ...changeFields,
  tx_hash: textOrNull(
    'Transaction hash; null for a release. A contribute and inflation have that of the base transaction of their block.',
    '交易哈希；解冻时为 null。出块奖励与增发为所在区块的base 交易的哈希。',
  ),
  action: text(
    'Cause of the change: transfer, transferFreeze, issue, destroy; contribute (the reward for a block); ram (used or given back); release (a frozen amount came due).',
    '变动来源：transfer、transferFreeze、issue、destroy；contribute（出块奖励）；ram（占用或退还 RAM）；release（冻结金额到期）。',
  ),
  counterparty: textOrNull('The other party; null where there is none.', '对方；没有时为 null。'),
  memo: textOrNull('Memo of a transfer; null for anything else.', '转账备注；其他变动为 null。'),
  change: text(
    'Change of available and frozen together, in token units; 0 for a release and for an own amount that is frozen.',
    '可用与冻结合计的变动（代币单位）；解冻以及为自己冻结时为 0。',
  ),
  balance: text('Available balance after the change, in token units.', '变动后的可用余额（代币单位）。'),
  frozen: text('Frozen balance after the change, in token units.', '变动后的冻结余额（代币单位）。'),
}
const stepRow = shape({
  ...stepFields,
  opening: text(
    'Only with step: available and frozen at its beginning, in token units.',
    '仅在使用 step 时返回：期初的可用与冻结合计（代币单位）。',
  ),
  in: text(
    'Only with step: sum of all increases in it, in token units.',
    '仅在使用 step 时返回：期间流入合计（代币单位）。',
  ),
  out: text(
    'Only with step: sum of all decreases in it, without the sign, in token units.',
    '仅在使用 step 时返回：期间流出合计，不带负号（代币单位）。',
  ),
  closing: text(
    'Only with step: available and frozen at its end, in token units: opening + in - out.',
    '仅在使用 step 时返回：期末的可用与冻结合计（代币单位），即 opening + in - out。',
  ),
})
const changesTitle = { en: 'Changes of this page.', zh: '变动列表。' }

/** Every change of a balance. */
export const getBalanceHistory = defineList({
  module: 'account',
  action: 'get-balance-history',
  title: { en: 'Balance of an account over time', zh: '账户余额历史' },
  summary: {
    en: 'Every change of the balance of a token that an owner has (iost if none is given), newest first, with its cause and the balance after it; sort=asc returns the exact reverse. With step, the rows are UTC days, weeks or months instead, newest first, those without a change included, at most 400: the balance at its beginning, the sums received and spent, and the balance at its end, available and frozen together. Weeks and months are whole, also where start_date or end_date is within one; with blocks or times, the first and the last of them have the figures of their part within the range. Without a start they are those of the last 30 days. A frozen amount that comes due is a row of its own with the change 0, and so is an amount that an owner freezes for itself (transferFreeze to oneself); a transfer to oneself changes nothing and has no row.',
    zh: '持有者某一代币（默认 iost）余额的全部变动，最新的在前，包括变动来源与变动后的余额；sort=asc 时顺序完全相反。提供 step 时改为按 UTC 日、周或月返回，最新的在前，没有变动的也包括在内，最多 400 行：期初、流入、流出与期末数量（可用与冻结合计）。周与月总是完整的，即使 start_date 或 end_date 在其中间；以区块或时间限定时，首尾两个周期只含区间内部分的数值。不提供起点时为涵盖最近 30 天的各个周期。冻结金额到期、或持有者为自己冻结一笔金额（向自己 transferFreeze）时单独列为一行，变动为 0；转给自己不产生变动，不列出。',
  },
  params: Type.Object({
    account: owner(),
    token: Type.Optional(token()),
    step: Type.Optional(step()),
    ...paging,
    sort: sort(),
    ...range,
    csv: csvLayout('koinly', 'ledger'),
  }),
  check: requested => {
    checkRange(requested)
    checkSteps(requested)
  },
  result: listOfRows('changes', Type.Union([shape({ seq: changeSeq, ...changeFields }), stepRow]), changesTitle),
  compatResult: listOfRows('changes', Type.Union([shape(changeFields), stepRow]), changesTitle),
  list: 'changes',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { account, token: symbol = 'iost', csv, ...requested }) => {
      const { view, compat } = context
      const [name, found] = await Promise.all([resolveOwner(context, account), view.get(tokens, symbol)])
      if (found === undefined) throw unknown(context, 'token', symbol)
      if (requested.step !== undefined)
        return listBalanceSteps(
          context,
          { ...requested, step: requested.step },
          { id: balanceId(symbol, name), decimal: found.decimal },
        )
      const all = await openChangeList(view, seriesOf.balance(balanceId(symbol, name)))
      const listing = {
        ...(await numberedRows(context, all, requested)),
        rows: balanceChangeRows({ owner: name, decimal: found.decimal, compat, isLabelled: csv === 'koinly' }),
      }
      if (csv === undefined) return listing
      const book = { csv, account: name, tokens: [symbol], range: requested, bookingsOf: createChangeBookings(symbol) }
      return { ...listing, book: openBook(context, book) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub', token: 'iost', page: '1', size: '5' },
})

type StepOptions = RangeOfSteps & { readonly step: Step; readonly sort: 'asc' | 'desc' }
type Balance = { readonly id: string; readonly decimal: number }

/** Opening and closing balance of each step, with the sums of increases and decreases. */
async function listBalanceSteps(
  context: Context,
  { step: by, sort: order, ...requested }: StepOptions,
  { id, decimal }: Balance,
): Promise<Listing<Numbered<SeriesChange>>> {
  const steps = await requestedSteps(context, { step: by, ...boundsOfSteps(requested) })
  const flows = await readFlows(context.view, seriesOf.balance(id), listStepHeights(steps))
  const shown = (units: bigint): string => fromUnits(units, decimal)
  const rows = steps.map(({ first, isWhole }, at) => {
    const [before = NO_FLOWS, after = NO_FLOWS] = [flows[at], flows[at + 1]]
    return {
      date: formatDate(first),
      complete: isWhole,
      opening: shown(before.gained - before.lost),
      in: shown(after.gained - before.gained),
      out: shown(after.lost - before.lost),
      closing: shown(after.gained - after.lost),
    }
  })
  return stepListing(rows, order, Object.keys(stepRow.properties))
}
