import type { View } from '#store/port.ts'
import type { Book } from '../books/book.ts'
import type { Merged } from './merge.ts'
import type { Rows } from './rows.ts'

/** What a row must be. */
export type RowTest = {
  /** Seen from these accounts; empty: from whoever deals with the counterparty. */
  readonly sides: ReadonlySet<string>
  readonly direction?: 'in' | 'out' | undefined
  readonly counterparty?: string | undefined
  readonly tokens?: ReadonlySet<string> | undefined
  /** The contract, and its action unless that is undefined. */
  readonly func?: { readonly contract: string; readonly action: string | undefined } | undefined
  readonly isFailed?: boolean
  readonly memo?: string | undefined
  readonly memoPrefix?: string | undefined
  /** In units of 10^-18 tokens. */
  readonly minAmount?: bigint | undefined
}

/** Rows of lists that pass a test, as one call asks for them: they are found by reading on, so their number is not known. */
export type Searched = {
  readonly search: Search
  /** How many rows there are, where that is known without reading them. */
  readonly total: number | undefined
  readonly rowsOf: (view: View, found: readonly Merged[]) => Promise<Rows>
  /** Fields that rows have beside those of all lists of records. */
  readonly fields: readonly string[]
  /** Its export in the columns of a program; absent: none is asked for. */
  readonly book?: Book
  /** How rows that come later are found, behind those that the lists have now. */
  readonly later: Later
  readonly counts: readonly number[]
}

/** Lists and a test, whatever their range: what came to them behind a position is found by `searchBehind`. */
export type Later = {
  readonly keys: readonly string[]
  readonly test: RowTest | undefined
  /** Whose each list is: the rows of it are tested as that account sees them. Absent: as the sides of the test do. */
  readonly owners?: readonly string[]
}

/** A search that has come to some row. It never changes: what is left is another one. */
export type Search = {
  /** Looks at up to `limit` further rows. */
  readonly look: (view: View, limit: number) => Promise<Looked>
  readonly isOver: boolean
}

/** `found`: those of the rows looked at that pass, in order; `last`: the position of the last one that was looked at. */
export type Looked = {
  readonly found: readonly Merged[]
  readonly last: string | undefined
  readonly looked: number
  readonly rest: Search
}
