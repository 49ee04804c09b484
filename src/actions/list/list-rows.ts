import type { View } from '#store/port.ts'
import type { Followed } from '../feed/followed.ts'
import type { Rows } from './rows.ts'

/** A list as one call asks for it: how many rows it has, and any run of them. Its pages and its export are read from it. */
export type Listing<D = unknown> = {
  readonly total: number
  /** How many rows the whole list has that are irreversible, whatever part of it is asked for; absent: the list cannot be followed. */
  readonly stored?: number
  /** `limit` documents after the first `offset`, in the order asked for; all of them are within `total`. */
  readonly docs: (view: View, offset: number, limit: number) => Promise<readonly D[]>
  readonly rows: (view: View, docs: readonly D[]) => Promise<Rows>
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
