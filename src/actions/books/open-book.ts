import { formatUnits, multiplyDecimals } from '#chain/amount.ts'
import { Exact } from '#chain/json.ts'
import { STAKE_KEEPERS } from '#chain/stake.ts'
import { formatDate, startOfDay, toDay, toIso } from '#chain/time.ts'
import type { Moment } from '#store/port.ts'
import type { Context, PriceHistory } from '../define.ts'
import type { Book, Rows } from '../find/listing.ts'
import type { RowRange } from '../request/range.ts'
import { MAX_DECIMALS, type RecordFilters } from '../request/record-filters.ts'

/** A change of an account's amount of a token, as it is booked. */
export type Booking = {
  /** Time of the block, ISO 8601 in UTC. */
  readonly time: string
  readonly token: string
  /** In token units, with `-` for an outgoing amount; never 0. */
  readonly change: string
  /** Available and frozen together after the change; absent: unknown. */
  readonly balance?: string
  readonly action: string
  readonly counterparty: string | null
  /** Whether the amount was locked by a vote or a pledge, or came back from one. */
  readonly isStake: boolean
  readonly memo: string | null
  readonly tx_hash: string | null
}

const isOutgoing = ({ change }: Pick<Booking, 'change'>): boolean => change.startsWith('-')

/** `transfer to bobby: rent`; unknown parts are left out. */
function describeBooking(booking: Booking): string {
  const { action, counterparty, memo } = booking
  const other = counterparty === null ? '' : ` ${isOutgoing(booking) ? 'to' : 'from'} ${counterparty}`
  return `${action}${other}${memo === null || memo === '' ? '' : `: ${memo}`}`
}

type BookLayout = {
  readonly heads: readonly string[]
  readonly cellsOf: (booking: Booking) => readonly (string | Exact)[]
}

/** The changes that some rows represent; a row that changed nothing has none. */
export type BookingsOf = (rows: Rows) => readonly Booking[]

/**
 * `filtered direction in`: the filters of a list as words of a file's name, so that a file with some of an
 * account's movements is not mistaken for one with all of them. Tokens are already in the name. The text of a
 * memo is left out, because it may contain anything.
 */
function filterWords({
  direction,
  counterparty,
  func_name,
  failed,
  memo,
  memo_prefix,
  min_amount,
}: RecordFilters): readonly string[] {
  const words = [
    ...(direction === undefined ? [] : ['direction', direction]),
    ...(counterparty === undefined ? [] : ['counterparty', counterparty]),
    ...(func_name === undefined ? [] : ['func_name', `${func_name.contract}_${func_name.action}`]),
    ...(failed === 1 ? ['failed'] : []),
    ...(memo === undefined ? [] : ['memo']),
    ...(memo_prefix === undefined ? [] : ['memo_prefix']),
    ...(min_amount === undefined ? [] : ['min_amount', formatUnits(min_amount, MAX_DECIMALS)]),
  ]
  return words.length === 0 ? [] : ['filtered', ...words]
}

/**
 * `from 2026-01-01 to 2026-12-31`: the period of a range as words of a file's name. The latest end is that of
 * the chain.
 */
function periodWords(range: RowRange, at: Moment): readonly string[] {
  const { start_time, start_date, end_time, end_date } = range
  const from = [
    ...[start_time, start_date].flatMap(time => (time === undefined ? [] : startWord(time))),
    ...numberWords('block', range.start_block),
    ...numberWords('seq', range.start_seq),
  ]
  const until = [
    ...[end_time, end_date].flatMap(time => (time === undefined ? [] : endWord(time, at))),
    ...numberWords('block', range.end_block),
    ...numberWords('seq', range.end_seq),
  ]
  const last = until.length === 0 ? [formatDate(toDay(at.time))] : until
  return [...(from.length === 0 ? [] : ['from', ...from]), 'to', ...last]
}

const numberWords = (word: string, value: bigint | undefined): readonly string[] =>
  value === undefined ? [] : [word, String(value)]

const isDay = (time: bigint): boolean => time === startOfDay(toDay(time))

const startWord = (time: bigint): string => (isDay(time) ? formatDate(toDay(time)) : formatSecond(time))

/** A file named after a future day would appear to contain it. */
const endWord = (time: bigint, at: Moment): string =>
  time > at.time || isDay(time + 1n) ? formatDate(toDay(time > at.time ? at.time : time)) : formatSecond(time)

/** `2026-11-21T082532Z`, because no system accepts colons in file names. */
const formatSecond = (time: bigint): string =>
  `${toIso(time).slice(0, 'YYYY-MM-DDThh:mm:ss'.length).replaceAll(':', '')}Z`

/** Columns of an account in a general ledger: each balance is the previous one plus the change. */
const ledger: BookLayout = {
  heads: ['date', 'description', 'change', 'balance', 'token', 'tx'],
  cellsOf: booking => [
    booking.time.slice(0, 'YYYY-MM-DD'.length),
    describeBooking(booking),
    new Exact(booking.change),
    booking.balance === undefined ? '' : new Exact(booking.balance),
    booking.token,
    booking.tx_hash ?? '',
  ],
}

/** Columns that Koinly and similar programs read by their names, for any token. */
const koinly = (prices: ReturnType<PriceHistory['get']>): BookLayout => ({
  heads: [
    'Date',
    'Sent Amount',
    'Sent Currency',
    'Received Amount',
    'Received Currency',
    'Fee Amount',
    'Fee Currency',
    'Net Worth Amount',
    'Net Worth Currency',
    'Label',
    'Description',
    'TxHash',
  ],
  cellsOf: booking => {
    const isSent = isOutgoing(booking)
    const moved = [new Exact(booking.change.replace('-', '')), formatSymbol(booking.token)]
    const { token, time, change } = booking
    const price = token === 'iost' ? prices?.byDay.get(time.slice(0, 'YYYY-MM-DD'.length)) : undefined
    const worth =
      prices === undefined || price === undefined
        ? undefined
        : { amount: multiplyDecimals(change.replace('-', ''), price), currency: prices.currency }
    return [
      `${booking.time.slice(0, 'YYYY-MM-DDThh:mm:ss'.length).replace('T', ' ')} UTC`,
      ...(isSent ? [...moved, '', ''] : ['', '', ...moved]),
      // The fee is gas, which is not a token.
      ...['', ''],
      ...(worth === undefined ? ['', ''] : [new Exact(worth.amount), worth.currency]),
      selectLabel(booking),
      describeBooking(booking),
      booking.tx_hash ?? '',
    ]
  },
})

/**
 * The ticker of the coin; for any other token a text that is the ticker of nothing. Anybody may create a token named
 * `usdt`, and the program would give it the price of the coin of that name. It reports an unknown currency instead.
 */
function formatSymbol(token: string): string {
  return token === 'iost' ? 'IOST' : `${token}@iost`
}

/** Contracts that pay to producers and voters, and pay nothing but their rewards. */
const PAYERS: ReadonlySet<string | null> = new Set(['vote_producer.iost', 'bonus.iost'])

/** Koinly's tag, in the words of its documentation, of a movement that is neither bought nor sold. */
function selectLabel(booking: Booking): string {
  if (booking.token !== 'iost') return ''
  if (booking.isStake && STAKE_KEEPERS.has(booking.counterparty ?? ''))
    return isOutgoing(booking) ? 'Add to Pool' : 'Remove from Pool'
  return PAYERS.has(booking.counterparty) && !isOutgoing(booking) ? 'Reward' : ''
}

type BookOptions = {
  readonly csv: 'koinly' | 'ledger'
  readonly account: string
  readonly tokens: readonly string[]
  /** The filters of its rows; absent: it has all of them. */
  readonly filters?: RecordFilters
  readonly range: RowRange
  readonly bookingsOf: BookingsOf
}

export function openBook(
  { view, priceHistory }: Pick<Context, 'priceHistory'> & { readonly view: { readonly at: Moment } },
  { csv, account, tokens, filters = {}, range, bookingsOf }: BookOptions,
): Book {
  const { heads, cellsOf } = csv === 'koinly' ? koinly(priceHistory?.get()) : ledger
  return {
    heads,
    linesOf: rows => bookingsOf(rows).map(cellsOf),
    names: [
      account,
      tokens.length === 0 ? 'all-tokens' : tokens.join('_'),
      ...periodWords(range, view.at),
      ...filterWords(filters),
      csv,
    ],
  }
}
