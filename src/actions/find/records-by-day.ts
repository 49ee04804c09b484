import { dateOf, startOfDay } from '#chain/time.ts'
import { lists } from '#indices/list.ts'
import type { Moment, View } from '#store/port.ts'
import { ORIGIN } from '../list/numbered.ts'
import { countPassing } from '../list/ordinal-search.ts'
import type { AskedDays } from './asked-days.ts'

/** Most days of one answer, some three months: a search in the list has a bound for each. */
export const MOST_DAYS = 92

/** A UTC day, whether it is over, and how many rows a list has on it. */
type RecordsOfDay = { readonly date: string; readonly complete: boolean; readonly records: number }

/** How many rows a list has on each of the days that are asked for, by a search for where each day begins and ends. */
export const recordsByDay = async (
  view: View,
  /** As `listOf` names it. */
  id: string,
  { from, to, today }: Pick<AskedDays, 'from' | 'to' | 'today'>,
): Promise<readonly RecordsOfDay[]> => {
  if (from > to) return []
  const list = await view.get(lists, id)
  const days = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const rowOf = (day: number, records: number) => ({ date: dateOf(day), complete: day < today, records })
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
