/** Bounds of the pauses between tries. */
export type Backoff = {
  /** Before the second try. */
  readonly firstMs: number
  /** Pauses double up to this. */
  readonly longestMs: number
  /** A pause is a random part of that, between these two. Absent: between a half and the whole. */
  readonly part?: { readonly from: number; readonly to: number }
}

const HALF_OR_MORE = { from: 0.5, to: 1 }

/**
 * Milliseconds to pause after `failures` in a row (from 1): doubles up to the longest. `random` (0 ≤ x < 1) varies it, so
 * that many that failed together do not come back together.
 */
export const backoffMs = (
  { firstMs, longestMs, part: { from, to } = HALF_OR_MORE }: Backoff,
  failures: number,
  random: number,
): number => Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30)) * (from + (to - from) * random)
