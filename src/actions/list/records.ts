import { type ListDoc, lists } from '#indices/list.ts'
import type { RecordDoc } from '#indices/record.ts'
import { ordinalsFor } from '#store/page.ts'
import type { Moment, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { refuseBeyondLoaded } from '../find/loading.ts'
import type { Range } from '../request/range.ts'
import { countPassing } from './ordinal-search.ts'
import { offsetFor } from './paging.ts'

/** Which rows of a list are asked for: a page of those within the range. */
type RecordPage = Range & {
  readonly page: bigint
  readonly size: number
  readonly sort: 'asc' | 'desc'
}

/**
 * Rows of a list in the requested order, and their total; a list that does not exist has none. Throws 'loading' for a
 * range beyond the loaded blocks.
 */
export const pageOfRecords = async (
  context: Pick<Context, 'view' | 'node'>,
  list: string,
  { page, size, sort, ...range }: RecordPage,
): Promise<{ readonly total: number; readonly docs: readonly RecordDoc[] }> => {
  refuseBeyondLoaded(context, range)
  const { view } = context
  const found = await view.get(lists, list)
  if (found === undefined) return { total: 0, docs: [] }
  const { before, total } = await rowsWithin(view, found, range)
  const offset = offsetFor(page, size)
  if (offset === undefined || offset >= total) return { total, docs: [] }
  const shown = ordinalsFor({ total, page: Number(page), size, sort })
  if (shown === undefined) return { total, docs: [] }
  const docs = await view.records(found, before + shown.first, before + shown.last)
  return { total, docs: sort === 'asc' ? docs : docs.toReversed() }
}

/** No row is earlier. */
const ORIGIN: Moment = { height: 0, time: 0n }

/**
 * How many rows of a list come before a range, and how many are within it. Bounds at the ends of the chain take no
 * request.
 */
const rowsWithin = async (
  view: View,
  list: ListDoc,
  { start_block, end_block, start_time, end_time }: Range,
): Promise<{ readonly before: number; readonly total: number }> => {
  const isBefore = ({ height, time }: Moment): boolean =>
    (start_block !== undefined && height < start_block) || (start_time !== undefined && time < start_time)
  const isUntil = ({ height, time }: Moment): boolean =>
    (end_block === undefined || height <= end_block) && (end_time === undefined || time <= end_time)
  // Also what no pair of the same kind says: a start after the last block with an end at some time before it.
  if (isBefore(view.at) || !isUntil(ORIGIN)) return { before: 0, total: 0 }
  const look = (ordinals: readonly number[]) => view.moments(list, ordinals)
  const rows = { count: list.count, floor: ORIGIN, ceiling: view.at, look }
  const [before = 0, until = 0] = await countPassing<Moment>(rows, [isBefore, isUntil])
  // A block range and a time range that do not meet leave the end before the start.
  return { before, total: Math.max(until - before, 0) }
}
