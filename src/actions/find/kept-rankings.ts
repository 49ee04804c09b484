import { type BoundedCache, boundedCache } from '#store/bounded-cache.ts'

/** A member of a ranking and its figure, in the smallest unit. */
export type Ranked = readonly [name: string, units: bigint]

/** Rankings of the past by what they are of, height and hash of the block: what was so after an irreversible block stays so. */
export type KeptRankings = BoundedCache<readonly object[]>

/** Characters of all rankings that are kept: some 10^6 holders. */
const MOST_KEPT = 32_000_000

/** What one service keeps for its store. */
export const keptRankings = (): KeptRankings => boundedCache(MOST_KEPT)
