import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { Published, View } from '#store/port.ts'

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

/** What one service keeps for its store. It is of the chain that has a certain block, whatever the store has later. */
export const keptDayEnds = (): KeptDayEnds => {
  let kept: { readonly at: Pick<Published, 'height' | 'hash'>; readonly ends: DayEnds } | undefined
  return {
    of: async view => {
      if (kept === undefined || kept.at.height > view.at.height) return undefined
      const { at, ends } = kept
      const block = at.height === view.at.height ? view.at : await view.get(blocks, blockId(at.height))
      return block?.hash === at.hash ? ends : undefined
    },
    keep: ({ at: { height, hash } }, ends) => {
      kept = { at: { height, hash }, ends }
    },
  }
}
