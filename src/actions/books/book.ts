import type { Exact } from '#chain/json.ts'
import type { Rows } from '../find/rows.ts'

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

export const isOutgoing = ({ change }: Pick<Booking, 'change'>): boolean => change.startsWith('-')

/** `transfer to bobby: rent`; unknown parts are left out. */
export function describeBooking(booking: Booking): string {
  const { action, counterparty, memo } = booking
  const other = counterparty === null ? '' : ` ${isOutgoing(booking) ? 'to' : 'from'} ${counterparty}`
  return `${action}${other}${memo === null || memo === '' ? '' : `: ${memo}`}`
}

/** A list in the columns of an accounting program, instead of the fields of its rows. */
export type Book = {
  readonly heads: readonly string[]
  /** The lines of some rows; a row that changed nothing has no line. Numbers are `Exact`, other cells are text. */
  readonly linesOf: (rows: Rows) => readonly (readonly (string | Exact)[])[]
  /** Words of the file's name: account, tokens, period, filters and program. */
  readonly names: readonly string[]
}

export type BookLayout = {
  readonly heads: readonly string[]
  readonly cellsOf: (booking: Booking) => readonly (string | Exact)[]
}

/** The changes that some rows represent; a row that changed nothing has none. */
export type BookingsOf = (rows: Rows) => readonly Booking[]
