import type { Block, ProofLevel } from '#chain/block.ts'
import { checkAlone, checkBlock, checkWhole, isWholeByItself, lossyReceipts } from '#chain/check.ts'
import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { headHash } from '#chain/head.ts'
import { decodeRawBlock, decodeReceipts } from '#chain/raw-block.ts'
import { textOfBytes } from '#chain/receipt-hash.ts'
import { Failure } from '#failure/failure.ts'
import { requireSigned } from '#node/block-requests.ts'
import type { ChainInfo, Node } from '#node/port.ts'
import { type BlockRef, walkDown } from './branch.ts'

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

/** Timeout of a request; the next poll repeats it. */
const WITHIN_MS = 2_000
const OK = 200
/** Estimated bytes per character of a block's text: its rows and documents take about as much again as the text. */
const BYTES_PER_LETTER = 4

async function fetchNodeText({ node, signal }: FetchOptions, path: string): Promise<string | undefined> {
  const { status, body, release } = await node.get(path, { signal, withinMs: WITHIN_MS })
  const text = textOfBytes(body)
  release()
  return status === OK ? text : undefined
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
  const common = { height, hash, parentHash, block, bytes: text.length * BYTES_PER_LETTER }
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

/** Number of blocks fetched at once when many are missing. */
const AT_ONCE = 8

type BranchSearch = {
  /** Blocks by hash; fetched blocks are added. */
  readonly known: Map<string, Fetched>
  readonly head: BlockRef
  readonly published: BlockRef
  /** Maximum size of the blocks fetched in one search, estimated in bytes. */
  readonly mostBytes: number
}

/**
 * Fetches the missing blocks between a head and the published block. Resolves with the whole branch, or with the reason
 * why there is none: `away` when the node does not have one of the blocks at the moment, `apart` when the branch does
 * not lead to the published block, `behind` when it is too large. Throws as `fetchBlock` does.
 */
export async function fetchBranch(
  options: FetchOptions,
  { known, head, published, mostBytes }: BranchSearch,
): Promise<readonly Fetched[] | 'away' | 'apart' | 'behind'> {
  let room = mostBytes
  let walk = walkDown(known, head, published)
  for (let round = 0; walk.type === 'missing'; round += 1) {
    const { at } = walk
    const below = round === 0 ? 0 : Math.min(AT_ONCE - 1, at.height - published.height - 1)
    const found = await fetchDown(options, at, below)
    for (const block of found) {
      if (!known.has(block.hash)) room -= block.bytes
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
    ...heights.map(height => fetchBlock(options, { height }).catch(nothing)),
  ])
  return found.filter(block => block !== undefined)
}

/** Ignores a failure: a block that turns out to be needed is requested by its hash. */
function nothing(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error
}
