import type { Moment } from '#store/port.ts'
import type { Range } from '../request/range.ts'
import { countPassing, type Rows } from './ordinal-search.ts'

/** No row is earlier. */
export const ORIGIN: Moment = { height: 0, time: 0n }

/**
 * How many rows of a list come before a range, and how many are within it; none is later than `at`. Bounds at the ends of
 * the chain, and those that are numbers of rows, take no request.
 */
export const rowsWithin = async (
  { count: rowCount, look }: Pick<Rows<Moment>, 'count' | 'look'>,
  { start_block, end_block, start_seq = 0n, end_seq, ...times }: Range,
  at: Moment,
): Promise<{ readonly before: number; readonly total: number }> => {
  const count = BigInt(rowCount)
  const last = end_seq === undefined || end_seq > count ? count : end_seq
  if (start_seq > last) return { before: 0, total: 0 }
  const { from, to } = timesOf(times)
  const isBefore = ({ height, time }: Moment): boolean =>
    (start_block !== undefined && height < start_block) || (from !== undefined && time < from)
  const isUntil = ({ height, time }: Moment): boolean =>
    (end_block === undefined || height <= end_block) && (to === undefined || time <= to)
  // Also what no pair of the same kind says: a start after the last block with an end at some time before it.
  if (isBefore(at) || !isUntil(ORIGIN)) return { before: 0, total: 0 }
  const rows = { count: rowCount, floor: ORIGIN, ceiling: at, look }
  const [early = 0, until = 0] = await countPassing<Moment>(rows, [isBefore, isUntil])
  const before = Math.max(early, Number(start_seq) - 1)
  // Ranges of different kinds that do not meet leave the end before the start.
  return { before, total: Math.max(Math.min(until, Number(last)) - before, 0) }
}

type Times = Pick<Range, 'start_time' | 'end_time' | 'start_date' | 'end_date'>

/** First and last time of a range; of a time and a day, the one that leaves fewer rows. */
const timesOf = ({ start_time, end_time, start_date, end_date }: Times) => ({
  from: start_time === undefined || (start_date ?? start_time) > start_time ? start_date : start_time,
  to: end_time === undefined || (end_date ?? end_time) < end_time ? end_date : end_time,
})
