import type { HeadBlock } from '#head/head-state.ts'
import type { DocOf } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import type { Moment, View } from '#store/port.ts'
import type { Book } from '../books/book.ts'
import type { Rows } from './rows.ts'

/** The part of a list that one call selects: pages and exports are read from it. */
export type Listing<D = unknown> = {
  readonly total: number
  /** Number of irreversible rows of the whole list, not only the part; absent: the list cannot be followed. */
  readonly stored?: number
  /** `limit` documents after the first `offset`, in the requested order; all of them must be within `total`. */
  readonly docs: (view: View, offset: number, limit: number) => Promise<readonly D[]>
  /** Names of the fields of its rows, if they differ from the usual ones of the list. */
  readonly columns?: readonly string[]
  /** Further fields of an answer, beside the rows. */
  readonly beside?: object
  /** Heights of the past that the rows are of, in order; absent: that of the answer. */
  readonly heights?: readonly number[]
  readonly rows: (view: View, docs: readonly D[]) => Promise<Rows>
  /** Its export in the form of an accounting program; absent: not requested. */
  readonly book?: Book | undefined
  /** The document id of a row of history. */
  readonly idOf?: (doc: D) => string
  /** Splits documents into parts that fit in memory; absent: any thousand rows fit. */
  readonly parts?: (docs: readonly D[]) => Parts<D>
  /** Source of new rows; absent: the list cannot be followed. */
  readonly followed?: Followed
}

/**
 * Documents in order, in parts. The rows of `ahead`, which may be empty, may be created ahead of their turn.
 * Each part of `later` fits in memory.
 */
export type Parts<D> = { readonly ahead: readonly D[]; readonly later: readonly (readonly D[])[] }

export const ROWS_AT_ONCE = 1_000

export type Followed =
  | {
      readonly kind: 'records'
      /** Key of the list (`listOf`). */
      readonly key: string
      /** Number of the list; undefined: it has no row yet. */
      readonly number: number | undefined
    }
  /** Changes of a series, by its key (`seriesOf`). */
  | { readonly kind: 'series'; readonly key: string }
  | { readonly kind: 'transactions' }
  | { readonly kind: 'blocks' }

/** A row of a list with its number: its ordinal, from 1 in chain order, which never changes. */
export type Numbered<D> = {
  readonly seq: number
  readonly doc: D
  /** Its block, if that is not yet irreversible: the number may still change. */
  readonly above?: HeadBlock
}

/** A list whose rows have ordinals from 1 in chain order. */
export type OrdinalList<D> = {
  readonly count: number
  /** The number of irreversible rows, and the blocks of the others; absent: all are irreversible. */
  readonly above?: { readonly stored: number; readonly blockOf: (ordinal: number) => HeadBlock }
  /** Upper bound of the rows' moments; absent: the moment of the answer. */
  readonly end?: Moment
  /** Height and time of the rows with given ordinals (ascending, without duplicates). */
  readonly moments: (view: View, ordinals: readonly number[]) => Promise<readonly Moment[]>
  /** Rows `first` … `last`, ascending. */
  readonly docs: (view: View, first: number, last: number) => Promise<readonly D[]>
  readonly followed: Followed
  readonly idOf: (doc: D) => string
}

/** Rows of steps, given oldest first, as a list in the requested order, which cannot be followed. */
export function stepListing<D>(rows: readonly object[], sort: 'asc' | 'desc', columns: readonly string[]): Listing<D> {
  const ordered: readonly unknown[] = sort === 'asc' ? rows : rows.toReversed()
  return {
    total: rows.length,
    columns,
    docs: async (_view, offset, limit) => ordered.slice(offset, offset + limit) as readonly D[],
    rows: async (_view, docs) => ({ rows: docs }),
  }
}

/** Number of documents fetched at once when all documents of an order are needed. */
const CHUNK = 1000

type IndexOrder<I extends StateIndex> = {
  readonly index: I
  readonly order: keyof I['orders'] & string
  readonly group?: string
}

/** All documents of an order, sorted. Only for orders that are short or promised whole. */
export async function wholeOrder<I extends StateIndex>(
  view: View,
  { index, order, ...group }: IndexOrder<I>,
): Promise<readonly DocOf<I>[]> {
  const docs: DocOf<I>[] = []
  for await (const part of orderInRuns(view, { index, order, ...group })) docs.push(...part)
  return docs
}

export const orderInRuns = async function* <I extends StateIndex>(
  view: View,
  { index, order, ...group }: IndexOrder<I>,
): AsyncGenerator<readonly DocOf<I>[], void, void> {
  for (let offset = 0; ; offset += CHUNK) {
    const part = await view.page(index, order, { ...group, offset, limit: CHUNK })
    yield part
    if (part.length < CHUNK) return
  }
}

/**
 * The list of all documents of an order, `total` of them; `asc`: in its exact reverse. `rowOf` makes the row of each, from
 * its rank (1 is the first).
 */
export const createOrderListing = <I extends StateIndex>(
  { index, order, sort = 'desc', ...group }: IndexOrder<I> & { readonly sort?: 'asc' | 'desc' },
  total: number,
  rowOf: (doc: DocOf<I>, rank: number) => unknown,
): Listing<Ranked<I>> => ({
  total,
  docs: async (view, offset, limit) => {
    const first = sort === 'desc' ? offset : total - offset - limit
    const docs = await view.page(index, order, { ...group, offset: first, limit })
    const ranked = docs.map((doc, at) => ({ doc, rank: first + at + 1 }))
    return sort === 'desc' ? ranked : ranked.toReversed()
  },
  rows: async (_view, docs) => ({ rows: docs.map(({ doc, rank }) => rowOf(doc, rank)) }),
})

type Ranked<I extends StateIndex> = { readonly doc: DocOf<I>; readonly rank: number }

export const createMemoryListing = <R>(all: readonly R[], rowOf: (row: R) => unknown): Listing =>
  asRows({
    total: all.length,
    docs: async (_view, offset, limit) => all.slice(offset, offset + limit),
    rows: async (_view, docs) => ({ rows: docs.map(rowOf) }),
  })

/** The same list with its rows created as its documents are read: lists of different documents get one type. */
export const asRows = <D>({ total, docs, rows }: Listing<D>): Listing => ({
  total,
  docs: async (view, offset, limit) => (await rows(view, await docs(view, offset, limit))).rows,
  rows: async (_view, made) => ({ rows: made }),
})
