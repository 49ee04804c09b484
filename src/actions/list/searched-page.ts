import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { Merged } from './merge.ts'
import { readRowIds, rowIdText } from './row-id.ts'
import { rowsValue } from './rows.ts'
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
export async function searchedPage({ view }: Context, listing: SearchListing, { list, size, params }: PageOptions) {
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
    ...(end === undefined ? {} : { next: await findNextId(view, end) }),
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

const findNextId = async (view: View, position: string): Promise<string | undefined> =>
  (await readRowIds(view, [position])).map(rowIdText)[0]
