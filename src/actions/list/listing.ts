import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { StateIndex } from '#indices/registry.ts'
import type { View } from '#store/port.ts'
import { type Action, type Context, defineAction, type Typed } from '../define.ts'
import type { Followed } from '../feed/followed.ts'
import { SIZE_DEFAULT } from '../request/parameter-types.ts'
import { LAST_ID, lastIdOf, offsetFor, rawOf, wholeOf } from './paging.ts'
import { type Rows, rowsValue } from './rows.ts'

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

/** How an action finds its list. */
export type ListSource<P = Readonly<Record<string, unknown>>, D = unknown> = {
  /** The indices of state that it is read from; none: its rows are history, which never changes. */
  readonly state: readonly StateIndex[]
  /** Whether the list is offered as a feed; its listings then say what is followed. */
  readonly isFeed?: true
  /** Throws Failure ('not_found', 'loading' …). */
  readonly open: (context: Context, params: P) => Promise<Listing<D>>
}

type ListAction<P extends TObject, R extends TSchema, D> = Omit<Action<P, R>, 'run' | 'list' | 'source'> & {
  readonly list: string
  readonly source: ListSource<Static<P>, D>
}

/** Documents read at once. */
export const ROWS_AT_ONCE = 1_000

/** Declares a list action: its pages follow from its source, and so does its export. */
export const defineList = <P extends TObject, R extends TSchema, D>(
  action: ListAction<P, R, D>,
): Typed<Static<R>> =>
  defineAction({
    ...action,
    // `answer` and `openExport` give each action the values that its own parameters have read.
    source: action.source as unknown as ListSource,
    run: async (context, params) => {
      const listing = await action.source.open(context, params)
      const { page, size } = params as { readonly page?: bigint; readonly size?: number }
      return page === undefined && size === undefined
        ? wholeOf(action.list, await wholeRows(context, listing))
        : pageOf(context, listing, { list: action.list, page: page ?? 1n, size: size ?? SIZE_DEFAULT })
    },
  })

type Page = { readonly list: string; readonly page: bigint; readonly size: number }

const pageOf = async <D>({ view, head }: Context, listing: Listing<D>, { list, page, size }: Page) => {
  const { total } = listing
  const offset = offsetFor(page, size) ?? total
  const docs = offset >= total ? [] : await listing.docs(view, offset, Math.min(size, total - offset))
  const rows = await listing.rows(view, docs)
  const lastId = head === undefined ? undefined : lastIdOf(rows.rows)
  return { [list]: rowsValue(rows), page: rawOf(page), size, total, [LAST_ID]: lastId }
}

/** For lists that are promised whole also without `format`. */
const wholeRows = async <D>({ view }: Context, listing: Listing<D>): Promise<readonly unknown[]> => {
  const rows: unknown[] = []
  for (let at = 0; at < listing.total; at += ROWS_AT_ONCE) {
    const docs = await listing.docs(view, at, Math.min(ROWS_AT_ONCE, listing.total - at))
    rows.push(...(await listing.rows(view, docs)).rows)
  }
  return rows
}
