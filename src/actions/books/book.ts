import type { Exact } from '#chain/json.ts'
import type { Rows } from '../list/rows.ts'
import type { Booking } from './booking.ts'

/** A list in the columns of an accounting program, instead of the fields of its rows. */
export type Book = {
  readonly heads: readonly string[]
  /** The lines of some rows; a row that changed nothing has no line. Numbers are `Exact`, other cells are text. */
  readonly linesOf: (rows: Rows) => readonly (readonly (string | Exact)[])[]
  /** Words of the file's name: account, tokens, period, filters and program. */
  readonly names: readonly string[]
}

/** The columns of a program and the cells of a line. */
export type BookLayout = {
  readonly heads: readonly string[]
  readonly cellsOf: (booking: Booking) => readonly (string | Exact)[]
}

/** The changes that some rows represent; a row that changed nothing has none. */
export type BookingsOf = (rows: Rows) => readonly Booking[]
