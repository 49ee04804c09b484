import type { ChainInfo } from '#node/port.ts'
import type { Published } from '#store/port.ts'

/** Height and hash of a block. */
export type BlockRef = { readonly height: number; readonly hash: string }

/** A block and the hash of its parent. */
type Link = BlockRef & { readonly parentHash: string }

/** The outcome of following parent hashes down from a head. */
type Walk<B extends Link> =
  /** The walk reached the published block: the blocks in ascending order, the head last. */
  | { readonly type: 'whole'; readonly blocks: readonly B[] }
  /** The walk reached a block that has not been fetched. */
  | { readonly type: 'missing'; readonly at: BlockRef }
  /** The walk reached another block at the published height: the node is on another branch than the store. */
  | { readonly type: 'apart' }

/**
 * Follows parent hashes from a head down to the published block. The blocks are therefore of one branch, whatever was
 * fetched in between and from whichever node. Known blocks right below the published one are included.
 */
export function walkDown<B extends Link>(known: ReadonlyMap<string, B>, head: BlockRef, published: BlockRef): Walk<B> {
  const down: B[] = []
  let at = head
  while (at.height > published.height) {
    const block = known.get(at.hash)
    if (block === undefined) return { type: 'missing', at }
    // Hashes cover the height, so the head was reported with a false height.
    if (block.height !== at.height) return { type: 'apart' }
    down.push(block)
    at = { height: at.height - 1, hash: block.parentHash }
  }
  if (at.height !== published.height || at.hash !== published.hash) return { type: 'apart' }
  // A reader may use an older height than the one last read, and its rows must continue without a gap.
  for (let more = 0; more < 64; more += 1) {
    const block = known.get(at.hash)
    if (block === undefined) break
    down.push(block)
    at = { height: at.height - 1, hash: block.parentHash }
  }
  return { type: 'whole', blocks: down.reverse() }
}

/**
 * The blocks to keep: the branch, and the most recent 256 blocks of others, as far as `bytes` leave room: a branch that
 * lost may win again (A → B → A).
 */
export function selectCachedBlocks<B extends Link & { readonly bytes: number }>(
  known: ReadonlyMap<string, B>,
  branch: readonly B[],
  bytes: number,
): Map<string, B> {
  const kept = new Map(branch.map(block => [block.hash, block]))
  let room = bytes - branch.reduce((sum, block) => sum + block.bytes, 0)
  const aside: B[] = []
  for (const block of [...known.values()].reverse()) {
    if (kept.has(block.hash)) continue
    room -= block.bytes
    if (room < 0 || aside.length === 256) break
    aside.push(block)
  }
  // In order of arrival, the branch last.
  return new Map([...aside.reverse().map(block => [block.hash, block] as const), ...kept])
}

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
type Choice =
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
