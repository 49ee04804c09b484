import { formatDate, toDay } from '#chain/time.ts'
import type { Context } from '../define.ts'
import { DAYS_DEFAULT, type Dates } from '../request/dates.ts'
import { genesisDay } from './days.ts'
import { refuseWhileLoading } from './loading.ts'

/** UTC days since 1970 that an answer covers: `from` … `to`, none if `to` is before `from`. */
export type RequestedDays = {
  readonly from: number
  readonly to: number
  /** The day of the first block. */
  readonly genesis: number
  /** The day of the published block, which is still in progress. */
  readonly today: number
}

/**
 * The days of a call, limited to those of the chain. `check` refuses a range that is reversed or too long.
 * Throws 'loading' for a range that may extend beyond the loaded blocks.
 */
export async function requestedDays(
  context: Context,
  { start_date, end_date }: Dates,
  check: (dates: Dates) => void,
): Promise<RequestedDays> {
  const { view } = context
  const today = toDay(view.at.time)
  const last = Math.max(start_date ?? 0, end_date ?? 0)
  if (last >= today) {
    const date = formatDate(last)
    refuseWhileLoading(context, { en: `The whole range up to ${date}`, zh: `截至 ${date} 的完整区间` })
  }
  // Days that have not come are an empty range, and a refusal names no end that nobody gave.
  check({ start_date, end_date: end_date ?? Math.max(start_date ?? today, today) })
  const to = Math.min(end_date ?? today, today)
  // Without a start, a range whose end is in the future covers the newest days.
  const start = start_date ?? to - DAYS_DEFAULT + 1
  const genesis = await genesisDay(view)
  return { from: Math.max(start, genesis), to, genesis, today }
}
