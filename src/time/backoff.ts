/** Bounds of the pauses between retries. */
export type Backoff = {
  /** The pause before the second try. */
  readonly firstMs: number
  /** The longest pause; pauses double up to it. */
  readonly longestMs: number
  /** The actual pause is a random fraction between these two. Absent: between a half and the whole. */
  readonly part?: { readonly from: number; readonly to: number }
}

const HALF_OR_MORE = { from: 0.5, to: 1 }

/**
 * Milliseconds to pause after `failures` in a row (from 1): the pause doubles up to the longest. `random` (0
 * ≤ x < 1) varies it, so that clients that failed together do not retry together.
 */
export const backoffMs = (
  { firstMs, longestMs, part: { from, to } = HALF_OR_MORE }: Backoff,
  failures: number,
  random: number,
): number => Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30)) * (from + (to - from) * random)
