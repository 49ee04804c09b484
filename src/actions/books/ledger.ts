import { Exact } from '#chain/json.ts'
import type { BookLayout } from './book.ts'
import { describeBooking } from './booking.ts'

/** Columns of an account in a general ledger: each balance is the previous one plus the change. */
export const ledger: BookLayout = {
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
