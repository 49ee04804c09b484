import type { Block } from '#chain/block.ts'
import { checkAlone, checkBlock, checkWhole, isWholeByItself, lossyReceipts } from '#chain/check.ts'
import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { headHash } from '#chain/head.ts'
import type { ProofLevel } from '#chain/proof.ts'
import { decodeRawBlock, type RawBlock, receiptsAt } from '#chain/raw-block.ts'
import { textOfBytes } from '#chain/receipt-hash.ts'
import { Failure } from '#failure/failure.ts'
import type { ChainInfo } from '#node/chain-info.ts'
import { requireSigned } from '#node/fetch-heads.ts'
import type { Node } from '#node/port.ts'

/** A block whose hash, contents and signature are proved; whether the key is a producer's only the state tells. */
export type Fetched = {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly block: Block
  /** The key that signed it; undefined: no signature was asked for (`linked`). */
  readonly signedBy: string | undefined
  /** About what it takes in memory. */
  readonly bytes: number
}

export type Asked = {
  readonly node: Pick<Node, 'get'>
  readonly prove: ProofLevel
  readonly signal: AbortSignal
}

/** A node that needs longer is asked again at the next poll. */
const WITHIN_MS = 2_000
const OK = 200
/** Memory of a block's rows and documents beside its text: about as much again. */
const BYTES_PER_LETTER = 4

const textFrom = async ({ node, signal }: Asked, path: string): Promise<string | undefined> => {
  const { status, body, release } = await node.get(path, { signal, withinMs: WITHIN_MS })
  const text = textOfBytes(body)
  release()
  return status === OK ? text : undefined
}

/** Where the node stands now. Throws Failure 'unavailable', 'bad_block'. */
export const fetchChainInfo = async (asked: Asked): Promise<ChainInfo> => {
  const text = await textFrom(asked, '/getChainInfo')
  if (text === undefined) throw new Failure('unavailable', 'The node refuses getChainInfo.')
  return decodeChainInfo(text)
}

/**
 * The block with a hash, or the one that the node has at a height now, proved by itself: its head has its hash, both
 * roots are those of its transactions and receipts, and unless `linked` is enough, its witness signed it and the text of
 * every transaction has its hash. undefined: the node does not have it at this moment, or its raw form is already
 * another branch's. Throws Failure 'bad_block', 'unavailable'.
 */
export const fetchBlock = async (
  asked: Asked,
  name: { readonly hash: string } | { readonly height: number },
): Promise<Fetched | undefined> => {
  const path = 'hash' in name ? `/getBlockByHash/${name.hash}/true` : `/getBlockByNumber/${name.height}/true`
  const text = await textFrom(asked, path)
  if (text === undefined) return undefined
  const { block } = decodeBlockAnswer(text)
  if ('hash' in name ? block.hash !== name.hash : block.height !== name.height)
    throw new Failure('bad_block', `The node returned block ${block.height}, ${block.hash}, for ${path}.`)
  const { height, hash, parentHash } = block
  const common = { height, hash, parentHash, block, bytes: text.length * BYTES_PER_LETTER }
  if (asked.prove === 'linked') {
    checkAlone(block)
    return { ...common, signedBy: undefined }
  }
  const rawText = await textFrom(asked, `/getRawBlockByNumber/${height}/true`)
  const raw = rawText === undefined ? undefined : decodeRawBlock(rawText)
  // It is given by number only, and the branch may have changed since the block was given.
  if (raw === undefined || headHash(raw.head) !== hash) return undefined
  checkContents(block, raw)
  if (!isWholeByItself(block)) checkWhole(block, raw)
  return { ...common, signedBy: requireSigned(raw.head) }
}

/** Receipts whose bytes the node's JSON has lost are taken from the raw form. */
const checkContents = (block: Block, raw: RawBlock): void => {
  const lossy = lossyReceipts(block)
  try {
    const receipts = receiptsAt(raw, lossy)
    checkBlock(block, { parentHash: undefined }, { info: raw.head.info, receipts })
  } catch (error) {
    if (lossy.length === 0) throw error
    checkAlone(block)
  }
}
