import { encodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { checkContents } from '#chain/check.ts'
import { type BlockTransactions, decodeBlockTransactions } from '#chain/decode.ts'
import { changesProducers } from '#chain/effects.ts'
import { decodeOrigInfo, decodeRawHeads, headHash, type RawHead } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'
import { requireHeads } from './block-requests.ts'
import { type BulkAnswers, type BulkPart, type ProveReply, type ProveRequest, packBlocks } from './threads/provers.ts'

/**
 * Parses bulk answers into parts, one per block; each block is checked on its own. Its head is kept only
 * where it is needed: for the last block, for blocks that are not whole, and for blocks that change
 * producers. Throws Failure 'bad_block'.
 */
export function parseBulkParts({ from, to, prove, heads: text, lists }: BulkAnswers): readonly BulkPart[] {
  const heads = decodeRawHeads(text)
  requireHeads(heads, { from, to }, prove)
  const blocks = assemble(heads, decodeBlockTransactions(lists))
  return heads.map((head, at) => {
    const block = blocks[at]
    if (block === undefined) return { head }
    return at === heads.length - 1 || changesProducers(block) ? { head, block } : { block }
  })
}

function isWhole(block: Block, head: RawHead): boolean {
  try {
    checkContents(block, { head })
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

/**
 * Blocks assembled from raw heads and the bulk answer for their transactions. undefined for a block that is
 * not whole, since nodes leave out transactions without actions; it must be fetched singly.
 */
export function assemble(
  heads: readonly RawHead[],
  lists: readonly BlockTransactions[],
): readonly (Block | undefined)[] {
  const listAt = new Map(lists.map(list => [list.height, list]))
  return heads.map(head => {
    const list = listAt.get(head.height)
    if (list?.status === 'PENDING') return undefined
    // The block made of a raw head and its transactions. `info` has the value that nodes with bulk calls
    // return for every block (null in go-iost since 2020), so the block equals that of getBlockByNumber.
    const transactions = list?.transactions ?? []
    const block = {
      height: head.height,
      hash: headHash(head),
      parentHash: encodeBase58(head.parentHash),
      version: String(head.version),
      txMerkleHash: encodeBase58(head.txMerkleHash),
      txReceiptMerkleHash: encodeBase58(head.txReceiptMerkleHash),
      witness: head.witness,
      time: head.time,
      txCount: transactions.length,
      info: '{}',
      origInfo: decodeOrigInfo(head.info),
      transactions,
    }
    return isWhole(block, head) ? block : undefined
  })
}

/** The work of a proving thread for one range. The thread that asked deals with wrong answers. */
export function proveInThread({ id, answers }: ProveRequest): ProveReply {
  try {
    return { id, parts: packBlocks(parseBulkParts(answers)) }
  } catch (error) {
    if (error instanceof Failure) return { id }
    throw error
  }
}
