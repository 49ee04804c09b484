import { RawJson } from '#chain/json.ts'
import type { BookingsOf } from '../books/book.ts'
import type { Booking } from '../books/booking.ts'
import { extractParties } from './row-facts.ts'

/** The fields of a row of records from which bookings are made; `data` is passed separately. */
type Row = {
  readonly created_at: string
  readonly action_name: string
  readonly tx_hash: string
  readonly amount?: string | undefined
  readonly token?: string | undefined
  readonly memo?: string | undefined
  readonly isStake?: boolean | undefined
}

/** Converts rows of records to the bookings of an account. A transfer to itself is not a booking. */
export const createRecordBookings =
  (account: string): BookingsOf =>
  ({ rows, data = [] }) =>
    (rows as readonly Row[]).flatMap((row, at) => {
      const own = data[at]
      return toBooking(row, own instanceof RawJson ? own.text : (own ?? ''), account) ?? []
    })

/** The booking of a row; undefined: the row did not change the account's amounts. */
function toBooking(row: Row, data: string, account: string): Booking | undefined {
  const { created_at, action_name, tx_hash, amount, token, memo, isStake = false } = row
  // The amount of a vote or a pledge is moved by a separate row, which names the token.
  if (amount === undefined || token === undefined) return undefined
  const { from, to } = extractParties({ action_name, data })
  if (from === to || (from !== account && to !== account)) return undefined
  const other = from === account ? to : from
  return {
    ...{ time: created_at, token, action: action_name, tx_hash, memo: memo ?? null, isStake },
    change: from === account ? `-${amount}` : amount,
    counterparty: other === '' ? null : other,
  }
}
