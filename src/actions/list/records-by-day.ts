import { startOfDay } from '#chain/time.ts'
import { listOf, lists } from '#indices/list.ts'
import type { Moment, View } from '#store/port.ts'
import { ORIGIN } from './numbered.ts'
import { countPassing } from './ordinal-search.ts'

/** How many rows an account's list has on each UTC day from `from` to `to`, by a search for where each day begins and ends. */
export const recordsByDay = async (
  view: View,
  account: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly number[]> => {
  if (from > to) return []
  const list = await view.get(lists, listOf.account(account))
  const days = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  if (list === undefined) return days.map(() => 0)
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
  return days.map((_, at) => (before[at + 1] ?? 0) - (before[at] ?? 0))
}
