import { type BoundedCache, boundedCache } from '#store/bounded-cache.ts'

/** A member of a ranking and its figure, in the smallest unit. */
export type Ranked = readonly [name: string, units: bigint]

/**
 * Rankings of the past, by name, and height and hash of the block. The state after an irreversible block never changes.
 */
export type RankingCache = Pick<BoundedCache<readonly object[]>, 'get' | 'put'>

/** Size limit of the cache in characters: some 10^6 holders. */
const MAX_CACHED = 32_000_000

/** The cache of one service for its store. */
export const createRankingCache = (): RankingCache => boundedCache(MAX_CACHED)
