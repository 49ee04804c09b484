import type { View } from '#store/port.ts'
import { type End, isOn } from './blocks-at.ts'

/**
 * Where UTC days of a chain began, which no later block changes: for each day since 1970 the height of the last block
 * before it. One service keeps it, so that a search over all blocks is made once and not for every answer. There is at
 * most one entry for each day of the chain, and one for the step that the chain began in.
 */
export type KeptDayEnds = {
  /** What is kept of the chain that a view shows; undefined: nothing. */
  of(view: View): Promise<DayEnds | undefined>
  /** Keeps ends that were found in a view, beside those that `of` gave for it. */
  keep(view: View, ends: DayEnds): void
}

/** The last block before a day, by the day. */
type DayEnds = ReadonlyMap<number, number>

/**
 * The day ends that one service keeps for its store. They are those of the chain with a certain block, also when the store
 * has another chain later.
 */
export const keptDayEnds = (): KeptDayEnds => {
  let kept: { readonly at: End; readonly ends: DayEnds } | undefined
  return {
    of: async view => {
      if (kept === undefined) return undefined
      const { at, ends } = kept
      const isSame = at.height === view.at.height ? at.hash === view.at.hash : await isOn(view, at)
      return isSame ? ends : undefined
    },
    keep: ({ at: { height, hash } }, ends) => {
      kept = { at: { height, hash }, ends }
    },
  }
}
