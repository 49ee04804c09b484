import { type Exact, RawJson, type WriteOptions, writeJson } from '#chain/json.ts'
import type { HeadBlock } from '#head/head-state.ts'
import type { DocOf } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import { missingData } from '#store/failures.ts'
import type { Moment, View } from '#store/port.ts'

export type Rows = {
  /** Objects with the fields of the answer, or single values. */
  readonly rows: readonly unknown[]
  /**
   * The value of each row's field `data`, which is "" in the row: JSON text that is inserted unchanged, or a
   * text. The other fields must then be serializable with JSON.stringify. Absent: the rows are complete.
   */
  readonly data?: readonly (RawJson | string)[]
}

/** A list in the columns of an accounting program, instead of the fields of its rows. */
export type Book = {
  readonly heads: readonly string[]
  /** The lines of some rows; a row that changed nothing has no line. Numbers are `Exact`, other cells are text. */
  readonly linesOf: (rows: Rows) => readonly (readonly (string | Exact)[])[]
  /** Words of the file's name: account, tokens, period, filters and program. */
  readonly names: readonly string[]
}

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
  /** Whether a row has long texts, of which not a thousand fit in memory; absent: none has. */
  readonly isLong?: (doc: D) => boolean
  /** Source of new rows; absent: the list cannot be followed. */
  readonly followed?: Followed
}

export const ROWS_AT_ONCE = 1_000
/** Number of rows with long texts in memory at once: up to 130 KB each. */
const LONG_AT_ONCE = 64

/** Rows in runs with at most `LONG_AT_ONCE` long ones each. */
export function splitRuns<D>(docs: readonly D[], isLong: (doc: D) => boolean): readonly (readonly D[])[] {
  const runs: D[][] = []
  let long = 0
  for (const doc of docs) {
    long += isLong(doc) ? 1 : 0
    if (runs.length === 0 || long > LONG_AT_ONCE) {
      runs.push([])
      long = isLong(doc) ? 1 : 0
    }
    runs.at(-1)?.push(doc)
  }
  return runs
}

/**
 * One read of documents after the first `offset` of a list, in order. The rows of `ahead`, which may be empty, have no
 * long texts and may be created ahead of their turn; each part of `later` fits in memory. `total`: the number of rows of
 * the list, or of the range wanted. Throws Failure when the store has fewer rows than the list counts.
 */
export async function readParts<D>(
  view: View,
  listing: Pick<Listing<D>, 'docs' | 'isLong'>,
  { offset, total }: { readonly offset: number; readonly total: number },
): Promise<{ readonly ahead: readonly D[]; readonly later: readonly (readonly D[])[] }> {
  const { isLong = () => false } = listing
  const limit = Math.min(ROWS_AT_ONCE, total - offset)
  const docs = await listing.docs(view, offset, limit)
  if (docs.length !== limit)
    throw missingData(`A list of ${total} rows has ${docs.length} of those from ${offset + 1} to ${offset + limit}.`)
  const first = docs.findIndex(isLong)
  return first < 0
    ? { ahead: docs, later: [] }
    : { ahead: docs.slice(0, first), later: splitRuns(docs.slice(first), isLong) }
}

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

/** Number of documents fetched at once when all documents of an order are needed. */
const CHUNK = 1000

type IndexOrder<I extends StateIndex> = {
  readonly index: I
  readonly order: keyof I['orders'] & string
  readonly group?: string
}

/** All documents of an order, sorted. Only for orders that are short or promised whole. */
export async function readWholeOrder<I extends StateIndex>(
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

/** A list of rows in memory, made from `all` as they are read, which cannot be followed. */
export const createMemoryListing = <R, D = unknown>(
  all: readonly R[],
  rowOf: (one: R) => unknown = one => one,
): Listing<D> => ({
  total: all.length,
  docs: async (_view, offset, limit) => all.slice(offset, offset + limit).map(rowOf) as readonly D[],
  rows: async (_view, rows) => ({ rows }),
})

/** Rows of steps, given oldest first, as a list in the requested order. */
export const createStepListing = <D>(
  rows: readonly object[],
  sort: 'asc' | 'desc',
  columns: readonly string[],
): Listing<D> => ({
  ...createMemoryListing<object, D>(sort === 'asc' ? rows : rows.toReversed()),
  columns,
})

/** The same list with its rows created as its documents are read: lists of different documents get one type. */
export const toRowListing = <D>({ total, docs, rows }: Listing<D>): Listing => ({
  total,
  docs: async (view, offset, limit) => (await rows(view, await docs(view, offset, limit))).rows,
  rows: async (_view, made) => ({ rows: made }),
})

/** The rows as a value of an answer. */
export function rowsValue({ rows, data }: Rows): unknown {
  if (data === undefined) return rows
  // The native JSON.stringify takes an eighth of the time of our own writer.
  const [first = '', ...others] = JSON.stringify(rows).split(EMPTY_DATA)
  let text = first
  for (let at = 0; at < others.length; at += 1) text += `"data":${formatData(data[at] ?? '')}${others[at]}`
  return new RawJson(text)
}

/** Each row with its own data, for a list that is returned whole. */
export const withOwnData = ({ rows, data }: Rows): readonly unknown[] =>
  data === undefined ? rows : rows.map((row, at) => ({ ...(row as object), data: data[at] ?? '' }))

export function jsonRows({ rows, data }: Rows, options: WriteOptions = {}): readonly string[] {
  if (data === undefined) return rows.map(row => writeJson(row, options))
  // Each row is serialized by itself. No separator between rows would be safe: a text may end with it, and
  // the closing quote of that text would be taken for the first quote of the next row.
  return rows.map((row, at) => withData(JSON.stringify(row), formatData(data[at] ?? '')))
}

/** The empty `data` of a row. Within a JSON string quotes are escaped, and only a key is followed by a colon. */
const EMPTY_DATA = '"data":""'

function withData(row: string, data: string): string {
  const at = row.indexOf(EMPTY_DATA)
  return `${row.slice(0, at)}"data":${data}${row.slice(at + EMPTY_DATA.length)}`
}

const formatData = (data: RawJson | string): string => (typeof data === 'string' ? JSON.stringify(data) : data.text)

/** Each row as JSON in one line. */
export const formatRowLines = (rows: Rows, options: WriteOptions): readonly string[] =>
  jsonRows(rows, options).map(joinLines)

/** JSON text with line breaks by its signer, on one line: within JSON strings line breaks are always escaped. */
const joinLines = (row: string): string => (LINES.test(row) ? row.replaceAll(/[\r\n]/g, ' ') : row)
const LINES = /[\r\n]/
