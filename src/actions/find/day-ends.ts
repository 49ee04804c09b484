import { startOfDay } from '#chain/time.ts'
import type { Context } from '../define.ts'
import { findHeights } from './point.ts'

/** The height of the last published block before each of some UTC days since 1970; -1: the chain is younger. */
export async function readDayEnds(
  { view, dayEnds }: Pick<Context, 'view' | 'dayEnds'>,
  days: readonly number[],
): Promise<readonly number[]> {
  const { height: latest, time } = view.at
  const known = (await dayEnds?.of(view)) ?? new Map<number, number>()
  const unknown = days.filter(day => !known.has(day) && startOfDay(day) <= time)
  const found = await findHeights(
    view,
    unknown.map(day => startOfDay(day) - 1n),
  )
  const ends = new Map([...known, ...unknown.map((day, at) => [day, found[at] ?? -1] as const)])
  if (unknown.length > 0) dayEnds?.keep(view, ends)
  return days.map(day => ends.get(day) ?? latest)
}
