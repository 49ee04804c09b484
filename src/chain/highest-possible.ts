/** Blocks of a slot are 500 ms apart (go-iost common/witness.go, BlockInterval). */
const BLOCKS_PER_SECOND = 2
/** Extra blocks that are allowed because clocks differ. */
const CLOCKS_DIFFER = 1_000

/** A block that is known to be of the chain; `time` in nanoseconds since 1970. */
export type KnownBlock = { readonly height: number; readonly time: bigint }

/**
 * Height of the highest block that the chain can have at `now`, milliseconds since 1970, by the time that has passed since
 * a known block. Infinity where the clock is behind that block: it says nothing of the chain then.
 */
export const highestPossible = ({ height, time }: KnownBlock, now: number): number => {
  const seconds = now / 1_000 - Number(time) / 1e9
  return seconds < 0
    ? Number.POSITIVE_INFINITY
    : height + Math.ceil(seconds * BLOCKS_PER_SECOND) + CLOCKS_DIFFER
}
