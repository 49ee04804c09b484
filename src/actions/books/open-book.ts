import type { Moment } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { RowRange } from '../request/range.ts'
import type { RecordFilters } from '../request/record-filters.ts'
import type { Book, BookingsOf } from './book.ts'
import { filterWords } from './filter-words.ts'
import { koinly } from './koinly.ts'
import { ledger } from './ledger.ts'
import { periodWords } from './period-words.ts'

type BookOptions = {
  readonly csv: 'koinly' | 'ledger'
  /** The exact name of the account. */
  readonly account: string
  /** The tokens of the book; empty: all. */
  readonly tokens: readonly string[]
  /** The filters of its rows; absent: it has all of them. */
  readonly filters?: RecordFilters
  readonly range: RowRange
  readonly bookingsOf: BookingsOf
}

/** The book of an account. */
export function openBook(
  { view, priceHistory }: Pick<Context, 'priceHistory'> & { readonly view: { readonly at: Moment } },
  { csv, account, tokens, filters = {}, range, bookingsOf }: BookOptions,
): Book {
  const { heads, cellsOf } = csv === 'koinly' ? koinly(priceHistory?.get()) : ledger
  return {
    heads,
    linesOf: rows => bookingsOf(rows).map(cellsOf),
    names: [
      account,
      tokens.length === 0 ? 'all-tokens' : tokens.join('_'),
      ...periodWords(range, view.at),
      ...filterWords(filters),
      csv,
    ],
  }
}
