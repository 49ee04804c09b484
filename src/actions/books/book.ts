import type { Exact } from '#chain/json.ts'
import type { Rows } from '../list/rows.ts'
import type { Booking } from './booking.ts'

/** A list in the columns that a program for accountants takes, in place of the fields of its rows. */
export type Book = {
  readonly heads: readonly string[]
  /** The lines of some rows, fewer where a row changed nothing; numbers are `Exact`, all else is text. */
  readonly linesOf: (rows: Rows) => readonly (readonly (string | Exact)[])[]
  /** Words of the file's name: whose it is, of which token, of which period, and for which program. */
  readonly names: readonly string[]
}

/** The columns of a program. */
export type Layout = {
  readonly heads: readonly string[]
  readonly cellsOf: (booking: Booking) => readonly (string | Exact)[]
}

/** The changes that some rows stand for; a row that changed nothing has none. */
export type BookingsOf = (rows: Rows) => readonly Booking[]
