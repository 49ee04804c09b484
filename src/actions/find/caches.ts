import { type BoundedCache, boundedCache } from '#store/bounded-cache.ts'
import type { View } from '#store/port.ts'
import { type End, isOnChain } from './blocks-at.ts'

/**
 * Cache of the heights at which UTC days of a chain began, which no later block changes: for each day since 1970 the
 * height of the last block before it. One service keeps it, so that a search over all blocks is made once instead of
 * for every answer. It has at most one entry for each day of the chain, and one for the step in which the chain began.
 */
export type DayEndCache = {
  /** The cached ends for the chain of a view; undefined: there are none. */
  of(view: View): Promise<DayEnds | undefined>
  /** Replaces the cache by the ends found in a view together with those that `of` returned for it. */
  keep(view: View, ends: DayEnds): void
}

/** The height of the last block before a day, by day. */
type DayEnds = ReadonlyMap<number, number>

/** The ends belong to the chain with a certain block, even if the store has another chain later. */
export function createDayEndCache(): DayEndCache {
  let cached: { readonly at: End; readonly ends: DayEnds } | undefined
  return {
    of: async view => {
      if (cached === undefined) return undefined
      const { at, ends } = cached
      const isSame = at.height === view.at.height ? at.hash === view.at.hash : await isOnChain(view, at)
      return isSame ? ends : undefined
    },
    keep: ({ at: { height, hash } }, ends) => {
      cached = { at: { height, hash }, ends }
    },
  }
}

/** Rankings of the past, by name and block: the state after an irreversible block never changes. */
export type RankingCache = Pick<BoundedCache<readonly object[]>, 'get' | 'put'>

/** Size limit of the cache in characters: some 10^6 holders. */
const MAX_CACHED = 32_000_000

export const createRankingCache = (): RankingCache => boundedCache(MAX_CACHED)
