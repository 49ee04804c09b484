import { Exact } from '#chain/json.ts'
import type { PriceHistory } from '../define.ts'
import type { Layout } from './book.ts'
import { type Booking, descriptionOf, isGiven } from './booking.ts'
import { worthOf } from './worth.ts'

/** Columns that Koinly and programs like it read by their names, whatever token a row is of. */
export const koinly = (prices: ReturnType<PriceHistory['get']>): Layout => ({
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
    const isSent = isGiven(booking)
    const moved = [new Exact(booking.change.replace('-', '')), booking.token.toUpperCase()]
    const worth = worthOf(booking, prices)
    return [
      `${booking.time.slice(0, 'YYYY-MM-DDThh:mm:ss'.length).replace('T', ' ')} UTC`,
      ...(isSent ? [...moved, '', ''] : ['', '', ...moved]),
      // A transaction costs gas, which is no token.
      ...['', ''],
      ...(worth === undefined ? ['', ''] : [new Exact(worth.amount), worth.currency]),
      labelOf(booking),
      descriptionOf(booking),
      booking.tx_hash ?? '',
    ]
  },
})

/** Contracts that keep what remains the account's own. */
const KEEPERS: ReadonlySet<string | null> = new Set(['vote.iost', 'gas.iost'])
/** Contracts that pay producers and voters for what they do. */
const PAYERS: ReadonlySet<string | null> = new Set(['vote_producer.iost', 'bonus.iost'])

/** What Koinly calls a movement that is neither bought nor sold. */
const labelOf = (booking: Booking): string => {
  if (booking.token !== 'iost') return ''
  if (KEEPERS.has(booking.counterparty)) return isGiven(booking) ? 'stake' : 'unstake'
  return PAYERS.has(booking.counterparty) && !isGiven(booking) ? 'reward' : ''
}
