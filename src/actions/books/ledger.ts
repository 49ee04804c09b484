import { Exact } from '#chain/json.ts'
import type { Layout } from './book.ts'
import { descriptionOf } from './booking.ts'

/** Columns of an account in a general ledger: each balance is the previous one plus the change. */
export const ledger: Layout = {
  heads: ['date', 'description', 'change', 'balance', 'token', 'tx'],
  cellsOf: booking => [
    booking.time.slice(0, 'YYYY-MM-DD'.length),
    descriptionOf(booking),
    new Exact(booking.change),
    booking.balance === undefined ? '' : new Exact(booking.balance),
    booking.token,
    booking.tx_hash ?? '',
  ],
}
