import type { Block, ProofLevel } from '#chain/block.ts'
import { checkAlone, checkBlock, checkWhole, isWholeByItself, lossyReceipts } from '#chain/check.ts'
import { decodeBlockAnswer, decodeChainInfo, decodeRawBlock, decodeReceipts } from '#chain/decode.ts'
import { headHash } from '#chain/head.ts'
import { decodeChainText } from '#chain/receipt-hash.ts'
import { Failure } from '#failure/failure.ts'
import { requireSigned } from '#node/bulk.ts'
import type { ChainInfo, Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { BlockRef } from './head-state.ts'

/**
 * A block whose hash, contents and signature are verified. Only the state can show whether the signing key
 * belongs to a producer.
 */
export type Fetched = {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly block: Block
  /** The key that signed it; undefined when signatures are not checked (`linked`). */
  readonly signedBy: string | undefined
  /** Approximate memory use. */
  readonly bytes: number
}

export type FetchOptions = {
  readonly node: Pick<Node, 'get'>
  readonly prove: ProofLevel
  readonly signal: AbortSignal
}

/** A request that takes longer is repeated by the next poll. */
async function fetchNodeText({ node, signal }: FetchOptions, path: string): Promise<string | undefined> {
  const { status, body, release } = await node.get(path, { signal, withinMs: 2_000 })
  const text = decodeChainText(body)
  release()
  return status === 200 ? text : undefined
}

/** The current state of the node's chain. Throws Failure 'unavailable', 'bad_block'. */
export async function fetchChainInfo(options: FetchOptions): Promise<ChainInfo> {
  const text = await fetchNodeText(options, '/getChainInfo')
  if (text === undefined) throw new Failure('unavailable', 'The node refuses getChainInfo.')
  return decodeChainInfo(text)
}

/**
 * Fetches the block with a hash, or the node's current block at a height, and verifies it by itself: its header has its
 * hash, and both roots match its transactions and receipts. Unless `linked` is enough, the producer's signature and the
 * hash of every transaction's text are checked too. Returns undefined when the node does not have the block at the
 * moment, or its raw form is already of another branch. Throws Failure 'bad_block', 'unavailable'.
 */
async function fetchBlock(
  options: FetchOptions,
  name: { readonly hash: string } | { readonly height: number },
): Promise<Fetched | undefined> {
  const path = 'hash' in name ? `/getBlockByHash/${name.hash}/true` : `/getBlockByNumber/${name.height}/true`
  const text = await fetchNodeText(options, path)
  if (text === undefined) return undefined
  const { block } = decodeBlockAnswer(text)
  if ('hash' in name ? block.hash !== name.hash : block.height !== name.height)
    throw new Failure('bad_block', `The node returned block ${block.height}, ${block.hash}, for ${path}.`)
  const { height, hash, parentHash } = block
  // The rows and documents of a block take about as much again as its text.
  const common = { height, hash, parentHash, block, bytes: text.length * 4 }
  if (options.prove === 'linked') {
    checkAlone(block)
    return { ...common, signedBy: undefined }
  }
  const rawText = await fetchNodeText(options, `/getRawBlockByNumber/${height}/true`)
  const raw = rawText === undefined ? undefined : decodeRawBlock(rawText)
  // Raw blocks are served by number only, and the branch may have changed since the first request.
  if (raw === undefined || headHash(raw.head) !== hash) return undefined
  const lossy = lossyReceipts(block)
  try {
    const receipts = decodeReceipts(raw, lossy)
    checkBlock(block, { parentHash: undefined }, { info: raw.head.info, receipts })
  } catch (error) {
    if (lossy.length === 0) throw error
    checkAlone(block)
  }
  if (!isWholeByItself(block)) checkWhole(block, raw)
  return { ...common, signedBy: requireSigned(raw.head) }
}

/**
 * Fetches the missing blocks between a head and the published block. Resolves with the whole branch, or with the reason
 * why there is none: `away` when the node does not have one of the blocks at the moment, `apart` when the branch does
 * not lead to the published block, `behind` when the blocks fetched in this search are too large (`mostBytes`,
 * estimated). Fetched blocks are added to `known`, blocks by hash. Throws as `fetchBlock` does.
 */
export async function fetchBranch(
  options: FetchOptions,
  {
    known,
    head,
    published,
    mostBytes,
  }: { known: Map<string, Fetched>; head: BlockRef; published: BlockRef; mostBytes: number },
): Promise<readonly Fetched[] | 'away' | 'apart' | 'behind'> {
  let room = mostBytes
  let walk = walkDown(known, head, published)
  for (let round = 0; walk.type === 'missing'; round += 1) {
    const { at } = walk
    // Eight blocks are fetched at once when many are missing.
    const below = round === 0 ? 0 : Math.min(7, at.height - published.height - 1)
    const found = await fetchDown(options, at, below)
    for (const block of found) {
      // What is already derived of a known block stays with it.
      if (known.has(block.hash)) continue
      room -= block.bytes
      known.set(block.hash, block)
    }
    if (room < 0) return 'behind'
    if (!known.has(at.hash)) return 'away'
    walk = walkDown(known, head, published)
  }
  return walk.type === 'whole' ? walk.blocks : 'apart'
}

/**
 * Fetches a block and the node's blocks at the heights below it. Those may be of another branch, so only
 * parent hashes link them.
 */
async function fetchDown(options: FetchOptions, at: BlockRef, below: number): Promise<readonly Fetched[]> {
  const heights = Array.from({ length: below }, (_, more) => at.height - more - 1)
  const found = await Promise.all([
    fetchBlock(options, { hash: at.hash }),
    // A block that turns out to be needed is requested by its hash.
    ...heights.map(height =>
      fetchBlock(options, { height }).catch((error: unknown) => {
        if (!(error instanceof Failure)) throw error
      }),
    ),
  ])
  return found.filter(block => block !== undefined)
}

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

/**
 * Whether to follow the head that a node reports. The node decides between two branches, even at equal height, where it
 * may switch back and forth. Only a head below the tip is not trusted at once.
 *
 * - `stay`: the tip stays, unconfirmed.
 * - `behind`: no branch can be followed, because the node is behind the store, or too far ahead of it.
 */
export function judgeHead(
  { headBlock }: Pick<ChainInfo, 'headBlock'>,
  published: Pick<Published, 'height'>,
  tip: BranchTip | undefined,
): 'follow' | 'stay' | 'behind' {
  if (tip !== undefined && headBlock < tip.height && tip.ageMs < LAG_MS) return 'stay'
  return headBlock < published.height || headBlock > published.height + MAX_BLOCKS ? 'behind' : 'follow'
}
