import { startOfDay } from '#chain/time.ts'
import type { Published, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { blockAt } from './blocks-at.ts'
import { heightsAt } from './point.ts'

/**
 * Where UTC days of a chain began, which no later block changes: for each day since 1970 the height of the last block
 * before it. One service keeps it, so that a search over all blocks is made once and not for every answer. Asked for days of the
 * chain and the steps they are in, it has an entry for each at most.
 */
export type KeptDayEnds = {
  /** What is kept of the chain that a view shows; undefined: nothing. */
  of(view: View): Promise<DayEnds | undefined>
  /** Keeps ends that were found in a view, beside those that `of` gave for it. */
  keep(view: View, ends: DayEnds): void
}

/** The last block before a day, by the day. */
type DayEnds = ReadonlyMap<number, number>

/** What one service keeps for its store. It is of the chain that has a certain block, whatever the store has later. */
export const keptDayEnds = (): KeptDayEnds => {
  let kept: { readonly at: Pick<Published, 'height' | 'hash'>; readonly ends: DayEnds } | undefined
  return {
    of: async view => {
      if (kept === undefined || kept.at.height > view.at.height) return undefined
      const { at, ends } = kept
      const { hash } = at.height === view.at.height ? view.at : await blockAt(view, at.height)
      return hash === at.hash ? ends : undefined
    },
    keep: ({ at: { height, hash } }, ends) => {
      kept = { at: { height, hash }, ends }
    },
  }
}

/** For each of some UTC days since 1970 the height of the last published block before it; -1: the chain is younger. */
export const endsBefore = async (
  { view, dayEnds }: Pick<Context, 'view' | 'dayEnds'>,
  days: readonly number[],
): Promise<readonly number[]> => {
  const { height: latest, time } = view.at
  const known = (await dayEnds?.of(view)) ?? new Map<number, number>()
  const unknown = days.filter(day => !known.has(day) && startOfDay(day) <= time)
  const found = await heightsAt(
    view,
    unknown.map(day => startOfDay(day) - 1n),
  )
  const ends = new Map([...known, ...unknown.map((day, at) => [day, found[at] ?? -1] as const)])
  if (unknown.length > 0) dayEnds?.keep(view, ends)
  return days.map(day => ends.get(day) ?? latest)
}
