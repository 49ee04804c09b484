import { formatDate, startOfDay } from '#chain/time.ts'
import { lists } from '#indices/list.ts'
import type { Moment, View } from '#store/port.ts'
import { ORIGIN } from '../list/numbered.ts'
import { countPassing } from '../list/ordinal-search.ts'
import type { RequestedDays } from './requested-days.ts'

/** Maximum number of days in one answer, some three months: the search in the list has one bound per day. */
export const MAX_DAYS = 92

/** A UTC day, whether it is over, and the number of a list's rows on it. */
type RecordsOfDay = { readonly date: string; readonly complete: boolean; readonly records: number }

/** Number of a list's rows on each requested day, from a search for the bounds of the days. */
export async function recordsByDay(
  view: View,
  /** The key of the list (`listOf`). */
  id: string,
  { from, to, today }: Pick<RequestedDays, 'from' | 'to' | 'today'>,
): Promise<readonly RecordsOfDay[]> {
  if (from > to) return []
  const list = await view.get(lists, id)
  const days = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const rowOf = (day: number, records: number) => ({ date: formatDate(day), complete: day < today, records })
  if (list === undefined) return days.map(day => rowOf(day, 0))
  const rows = {
    count: list.count,
    floor: ORIGIN,
    ceiling: view.at,
    look: (ordinals: readonly number[]) => view.moments(list, ordinals),
  }
  const before = await countPassing<Moment>(
    rows,
    [...days, to + 1].map(startOfDay).map(start => made => made.time < start),
  )
  return days.map((day, at) => rowOf(day, (before[at + 1] ?? 0) - (before[at] ?? 0)))
}
