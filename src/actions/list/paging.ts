import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { RawJson } from '#chain/json.ts'
import type { View } from '#store/port.ts'
import { type ApiAction, type Context, defineAction, type ListSource, type Typed } from '../define.ts'
import { readRowIds } from '../find/blocks-at.ts'
import { type Listing, ROWS_AT_ONCE, rowsValue, withOwnData } from '../find/listing.ts'
import type { Merged } from '../find/merge.ts'
import { SIZE_DEFAULT } from '../request/parameter-types.ts'
import { rowIdText } from '../request/row-id.ts'
import type { RowSearch, SearchListing } from './searched.ts'

/**
 * Maximum number of rows that one page searches. It counts as one request whatever is in it, so the bound is the CPU time
 * of a request (30 ms); exports and feeds have no bound, and each thousand rows searched count.
 */
const MAX_LOOKED = 2_000
/** Minimum and maximum number of rows searched in one step. */
const LEAST_STEP = 100
const MAX_STEP = 1_000

type PageOptions = {
  readonly list: string
  readonly size: number
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * A page of a search: the rows found within the limit of a page, and the position from which to continue.
 * Their total is known if the search covered the whole range.
 */
async function searchedPage({ view }: Context, listing: SearchListing, { list, size, params }: PageOptions) {
  const { found, end } = await searchPage(view, listing.search, size)
  const rows = await listing.rowsOf(view, found)
  const isWhole = end === undefined && params['after'] === undefined
  const total = isWhole ? found.length : params['after'] === undefined ? listing.total : undefined
  return {
    [list]: rowsValue(rows),
    page: 1,
    size,
    total: total ?? null,
    ...(total === undefined ? { total_reason: 'searched' } : {}),
    ...(end === undefined ? {} : { next: (await readRowIds(view, [end])).map(rowIdText)[0] }),
  }
}

/** `end`: the position of the last row that is finished; undefined: there are no rows after it. */
async function searchPage(
  view: View,
  search: RowSearch,
  size: number,
): Promise<{ readonly found: readonly Merged[]; readonly end: string | undefined }> {
  const found: Merged[] = []
  let rest = search
  let last: string | undefined
  for (let room = MAX_LOOKED, step = Math.max(size, LEAST_STEP); room > 0 && !rest.isOver; ) {
    const looked = await rest.next(view, Math.min(room, step))
    found.push(...looked.found)
    room -= looked.tested
    rest = looked.rest
    last = looked.last ?? last
    if (found.length > size || (found.length === size && !rest.isOver))
      return { found: found.slice(0, size), end: found[size - 1]?.doc.id }
    step = Math.min(MAX_STEP, 2 * step)
  }
  return { found, end: rest.isOver ? undefined : last }
}

type ListAction<P extends TObject, R extends TSchema, D> = Omit<ApiAction<P, R>, 'run' | 'list' | 'source'> & {
  readonly list: string
  readonly source: ListSource<Static<P>, D>
}

/** Declares a list action, whose pages and export are derived from its source. */
export const defineList = <P extends TObject, R extends TSchema, D>(action: ListAction<P, R, D>): Typed<Static<R>> =>
  defineAction({
    ...action,
    // `answer` and `openExport` pass each action the values that its own parameters parsed.
    source: action.source as unknown as ListSource,
    run: async (context, params) => {
      const listing = await action.source.open(context, params)
      const { page, size } = params as { readonly page?: bigint; readonly size?: number }
      if ('search' in listing)
        return searchedPage(context, listing, { list: action.list, size: size ?? SIZE_DEFAULT, params })
      return page === undefined && size === undefined
        ? { ...buildWholeList(action.list, await readWholeRows(context, listing)), ...listing.beside }
        : readListPage(context, listing, { list: action.list, page: page ?? 1n, size: size ?? SIZE_DEFAULT })
    },
  })

type Page = { readonly list: string; readonly page: bigint; readonly size: number }

async function readListPage<D>({ view, head }: Context, listing: Listing<D>, { list, page, size }: Page) {
  const { total } = listing
  const before = (page - 1n) * BigInt(size)
  // A page number may have 19 digits, so the rows before the page are counted without a double.
  const offset = before < BigInt(total) ? Number(before) : total
  const docs = offset >= total ? [] : await listing.docs(view, offset, Math.min(size, total - offset))
  const rows = await listing.rows(view, docs)
  const lastId = head === undefined ? undefined : findLastRowId(rows.rows)
  return { [list]: rowsValue(rows), page: toRawPage(page), size, total, ...listing.beside, [LAST_ID]: lastId }
}

/** For lists that are returned whole even without `format`. */
async function readWholeRows<D>({ view }: Context, listing: Listing<D>): Promise<readonly unknown[]> {
  const rows: unknown[] = []
  for (let at = 0; at < listing.total; at += ROWS_AT_ONCE) {
    const docs = await listing.docs(view, at, Math.min(ROWS_AT_ONCE, listing.total - at))
    rows.push(...withOwnData(await listing.rows(view, docs)))
  }
  return rows
}

/** A page number as JSON. It may have 19 digits, and stays a number when amounts are written as text. */
export const toRawPage = (page: bigint): RawJson => new RawJson(String(page))

/** The page of a list that an answer contains: `page` from 1, at most `size` rows of `total`. */
export type Paged = {
  readonly page: bigint
  readonly size: number
  /** undefined: unknown. */
  readonly total: number | undefined
  /** The id of the last row, if the next rows are requested by it rather than by a page number. */
  readonly lastId?: string | undefined
}

/** The page that the `data` of an action contains; undefined: it is not a list, or a whole one. */
export function findPaged(params: Readonly<Record<string, unknown>>, data: unknown): Paged | undefined {
  const { page = 1n } = params
  if (params['page'] === undefined && params['size'] === undefined) return undefined
  const { size, total, next } = data as Readonly<Record<string, unknown>>
  if (typeof page !== 'bigint' || typeof size !== 'number') return undefined
  if (typeof next === 'string' || total === null)
    return { page, size, total: undefined, lastId: typeof next === 'string' ? next : undefined }
  if (typeof total !== 'number') return undefined
  const lastId = (data as { readonly [LAST_ID]?: string })[LAST_ID]
  return { page, size, total, lastId }
}

/** The id of the last row of a page. Not part of `data`, because only links need it. */
const LAST_ID = Symbol('id of the last row')

/** The id of the last row, if rows have ids. */
function findLastRowId(rows: readonly unknown[]): string | undefined {
  const last = rows.at(-1)
  return typeof last === 'object' && last !== null && 'id' in last && typeof last.id === 'string' ? last.id : undefined
}

/** Facts about the rows of a whole list that only its export needs. */
type ExportFacts = {
  /** Names of the fields of its rows, if they differ from the usual ones of the list. */
  readonly columns?: readonly string[]
  /** Heights of the past that the rows are of, in order; absent: that of the answer. */
  readonly heights?: readonly number[]
}

/** A list that is always returned whole. */
export const buildWholeList = (
  list: string,
  rows: readonly unknown[],
  exportFacts?: ExportFacts,
): Readonly<Record<string, unknown>> => ({
  [list]: rows,
  page: 1,
  size: rows.length,
  total: rows.length,
  ...(exportFacts === undefined ? {} : { [EXPORT_FACTS]: exportFacts }),
})

/** The facts for an export of the whole list in an answer. */
export const getExportFacts = (data: unknown): ExportFacts =>
  (data as { readonly [EXPORT_FACTS]?: ExportFacts })[EXPORT_FACTS] ?? {}

/** The key is a symbol, so the facts are not part of the JSON of `data`. */
const EXPORT_FACTS = Symbol('facts for an export')
