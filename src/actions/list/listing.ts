import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { type Action, type Context, defineAction, type ListSource, type Typed } from '../define.ts'
import { SIZE_DEFAULT } from '../request/parameter-types.ts'
import { type Listing, ROWS_AT_ONCE } from './list-rows.ts'
import { LAST_ID, lastIdOf, offsetFor, rawOf, wholeOf } from './paging.ts'
import { rowsValue } from './rows.ts'

type ListAction<P extends TObject, R extends TSchema, D> = Omit<Action<P, R>, 'run' | 'list' | 'source'> & {
  readonly list: string
  readonly source: ListSource<Static<P>, D>
}

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
