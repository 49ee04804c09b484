import type { Block } from '#chain/block.ts'
import { checkAlone, checkBlock, checkWhole, isWholeByItself, lossyReceipts } from '#chain/check.ts'
import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { headHash } from '#chain/head.ts'
import type { ProofLevel } from '#chain/proof.ts'
import { decodeRawBlock, decodeReceipts, type RawBlock } from '#chain/raw-block.ts'
import { textOfBytes } from '#chain/receipt-hash.ts'
import { Failure } from '#failure/failure.ts'
import type { ChainInfo } from '#node/chain-info.ts'
import { requireSigned } from '#node/fetch-heads.ts'
import type { Node } from '#node/port.ts'

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
export async function fetchBlock(
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
  checkContents(block, raw)
  if (!isWholeByItself(block)) checkWhole(block, raw)
  return { ...common, signedBy: requireSigned(raw.head) }
}

/** Receipts whose bytes are lost in the node's JSON are taken from the raw form. */
function checkContents(block: Block, raw: RawBlock): void {
  const lossy = lossyReceipts(block)
  try {
    const receipts = decodeReceipts(raw, lossy)
    checkBlock(block, { parentHash: undefined }, { info: raw.head.info, receipts })
  } catch (error) {
    if (lossy.length === 0) throw error
    checkAlone(block)
  }
}
