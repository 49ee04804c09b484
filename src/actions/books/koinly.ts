import { Exact } from '#chain/json.ts'
import { STAKE_KEEPERS } from '#chain/stake.ts'
import type { PriceHistory } from '../define.ts'
import type { BookLayout } from './book.ts'
import { type Booking, describeBooking, isOutgoing } from './booking.ts'
import { findWorth } from './worth.ts'

/** Columns that Koinly and similar programs read by their names, for any token. */
export const koinly = (prices: ReturnType<PriceHistory['get']>): BookLayout => ({
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
    const worth = findWorth(booking, prices)
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
