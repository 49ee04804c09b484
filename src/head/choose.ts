import type { ChainInfo } from '#node/chain-info.ts'
import type { Published } from '#store/port.ts'
import type { BlockRef } from './branch.ts'

/**
 * Number of blocks that are followed above the published one: five minutes. A chain is rarely 40 seconds
 * behind its head.
 */
const MAX_BLOCKS = 600
/**
 * Time for which a tip stays when nodes report a lower head. The head of a node never goes down, so the
 * report comes from another node that lags behind.
 */
const LAG_MS = 3_000

/** The tip that is shown, and the age of the last report of a head at its height or above. */
export type BranchTip = BlockRef & { readonly ageMs: number }

/** The decision after a node's report. */
export type Choice =
  | { readonly type: 'follow'; readonly head: BlockRef }
  /** The tip stays, unconfirmed. */
  | { readonly type: 'stay' }
  /** No branch can be followed: the node is behind the store, or too far ahead of it. */
  | { readonly type: 'behind' }

/**
 * Chooses the head to follow. The node decides between two branches, even at equal height, where it may
 * switch back and forth. Only a head below the tip is not trusted at once.
 */
export function chooseHead(
  { headBlock, headHash }: Pick<ChainInfo, 'headBlock' | 'headHash'>,
  published: Pick<Published, 'height'>,
  tip: BranchTip | undefined,
): Choice {
  if (tip !== undefined && headBlock < tip.height && tip.ageMs < LAG_MS) return { type: 'stay' }
  if (headBlock < published.height || headBlock > published.height + MAX_BLOCKS) return { type: 'behind' }
  return { type: 'follow', head: { height: headBlock, hash: headHash } }
}
