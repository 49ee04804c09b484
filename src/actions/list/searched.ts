import type { View } from '#store/port.ts'
import type { Book, Rows } from '../find/listing.ts'
import type { Merged } from '../find/merge.ts'

/** The conditions that a row must meet. */
export type RowTest = {
  /**
   * The accounts from which direction and counterparty are seen; empty: any account that deals with the counterparty.
   */
  readonly sides: ReadonlySet<string>
  readonly direction?: 'in' | 'out' | undefined
  readonly counterparty?: string | undefined
  readonly tokens?: ReadonlySet<string> | undefined
  /** The contract, and its action; undefined: any action. */
  readonly func?: { readonly contract: string; readonly action: string | undefined } | undefined
  readonly isFailed?: boolean
  readonly memo?: string | undefined
  readonly memoPrefix?: string | undefined
  /** In units of 10^-18 tokens. */
  readonly minAmount?: bigint | undefined
}

/**
 * Rows of lists that pass a test, as one call selects them. They are found by reading on, so their number is
 * usually unknown.
 */
export type SearchListing = {
  readonly search: RowSearch
  /** Number of rows, if it is known without reading them. */
  readonly total: number | undefined
  readonly rowsOf: (view: View, found: readonly Merged[]) => Promise<Rows>
  /** Fields of the rows in addition to those of all lists of records. */
  readonly fields: readonly string[]
  /** Its export in the form of an accounting program; absent: not requested. */
  readonly book?: Book | undefined
  /** The lists and the test for finding later rows, and the present number of rows of each list. */
  readonly later: ListSelection
  readonly counts: readonly number[]
}

/** Lists and a test, without a range: `openLaterSearch` finds rows added after given counts. */
export type ListSelection = {
  readonly keys: readonly string[]
  readonly test: RowTest | undefined
  /** The owner of each list: its rows are tested from that account's side. Absent: from the sides of the test. */
  readonly owners?: readonly string[]
}

/** The state of a search. It is immutable: each step returns the remainder as a new search. */
export type RowSearch = {
  /** Tests up to `limit` further rows. */
  readonly next: (view: View, limit: number) => Promise<SearchStep>
  readonly isOver: boolean
}

/**
 * `found`: the tested rows that pass, in order; `last`: the position of the last tested row; `tested`: the
 * number of tested rows.
 */
type SearchStep = {
  readonly found: readonly Merged[]
  readonly last: string | undefined
  readonly tested: number
  readonly rest: RowSearch
}
