import type { HeadBlock } from '#head/shown.ts'
import type { Moment, View } from '#store/port.ts'
import type { Book } from '../books/book.ts'
import type { Followed } from '../feed/followed.ts'
import type { Rows } from './rows.ts'

/** A list as one call asks for it: how many rows it has, and any run of them. Its pages and its export are read from it. */
export type Listing<D = unknown> = {
  readonly total: number
  /** How many rows the whole list has that are irreversible, whatever part of it is asked for; absent: the list cannot be followed. */
  readonly stored?: number
  /** `limit` documents after the first `offset`, in the order asked for; all of them are within `total`. */
  readonly docs: (view: View, offset: number, limit: number) => Promise<readonly D[]>
  /** Names of the fields of its rows where they are not the usual ones of the list. */
  readonly columns?: readonly string[]
  /** Fields of an answer beside its rows. */
  readonly beside?: object
  readonly rows: (view: View, docs: readonly D[]) => Promise<Rows>
  /** Its export in the columns of a program; absent: none is asked for. */
  readonly book?: Book
  /** The id of the document of a row of history. */
  readonly idOf?: (doc: D) => string
  /** Absent: the rows of any thousand can be in memory ahead of their turn. */
  readonly parts?: (docs: readonly D[]) => Parts<D>
  /** Where the rows that come later are found; absent: the list cannot be followed. */
  readonly followed?: Followed
}

/** Documents in order, in parts: the first may be empty, and its rows can be made ahead; those of each later one fit in memory. */
export type Parts<D> = { readonly ahead: readonly D[]; readonly later: readonly (readonly D[])[] }

/** Documents read at once. */
export const ROWS_AT_ONCE = 1_000

/** A row of a list with its number there: its ordinal, from 1 in chain order, which never changes. */
export type Numbered<D> = {
  readonly seq: number
  readonly doc: D
  /** Its block, where that is not irreversible yet: the number may still become another one. */
  readonly above?: HeadBlock
}

/** A list whose rows have ordinals from 1 in chain order. */
export type NumberedList<D> = {
  readonly count: number
  /** How many of them are irreversible, and the blocks of the others; absent: all are. */
  readonly above?: { readonly stored: number; readonly blockOf: (ordinal: number) => HeadBlock }
  /** No row is later; absent: the height of the answer. */
  readonly end?: Moment
  /** When the rows with some ordinals were made (ascending, each once). */
  readonly moments: (view: View, ordinals: readonly number[]) => Promise<readonly Moment[]>
  /** Rows `first` … `last`, ascending. */
  readonly docs: (view: View, first: number, last: number) => Promise<readonly D[]>
  readonly followed: Followed
  /** The id of a row's document. */
  readonly idOf: (doc: D) => string
}
