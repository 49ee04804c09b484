import type { ChainInfo } from '#node/chain-info.ts'
import type { Published } from '#store/port.ts'
import type { Point } from './branch.ts'

/** Blocks above the published one that are followed: five minutes; a chain is rarely 40 seconds behind its head. */
const MOST_BLOCKS = 600
/**
 * How long a tip stays when nodes report a lower head: a node's head never goes down, so the report is that of another
 * one that lags behind.
 */
const LAG_MS = 3_000

/** The tip that is shown, and how long ago a node reported that it or a higher block is its head. */
export type ShownTip = Point & { readonly ageMs: number }

/** The consequence of a node's report. */
export type Choice =
  | { readonly type: 'follow'; readonly head: Point }
  /** The tip stays, unconfirmed. */
  | { readonly type: 'stay' }
  /** Nothing can be followed. */
  | { readonly type: 'behind' }

/**
 * The head to follow. Which of two branches counts is the node's own choice, also at equal height, where it may go back
 * and forth; only a lower head than the tip's is not believed at once.
 */
export const choiceOf = (
  { headBlock, headHash }: Pick<ChainInfo, 'headBlock' | 'headHash'>,
  published: Pick<Published, 'height'>,
  tip: ShownTip | undefined,
): Choice => {
  if (tip !== undefined && headBlock < tip.height && tip.ageMs < LAG_MS) return { type: 'stay' }
  if (headBlock < published.height || headBlock > published.height + MOST_BLOCKS) return { type: 'behind' }
  return { type: 'follow', head: { height: headBlock, hash: headHash } }
}
