import { encodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { checkContents } from '#chain/check.ts'
import { type BlockTransactions, decodeBlockTransactions } from '#chain/decode.ts'
import { changesProducers } from '#chain/effects.ts'
import { decodeRawHeads, headHash, origInfoOf, type RawHead } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'
import type { BulkAnswers, Part } from './bulk-answers.ts'
import { requireHeads } from './fetch-heads.ts'

/**
 * The blocks of bulk answers, each whole by itself. A head is kept where it is needed: of the last block, of blocks that are
 * not whole, and of those that change who produces. Throws Failure 'bad_block'.
 */
export const partsOf = ({ from, to, prove, heads: text, lists }: BulkAnswers): readonly Part[] => {
  const heads = decodeRawHeads(text)
  requireHeads(heads, { from, to }, prove)
  const blocks = assemble(heads, decodeBlockTransactions(lists))
  return heads.map((head, at) => {
    const block = blocks[at]
    if (block === undefined) return { head }
    return at === heads.length - 1 || changesProducers(block) ? { head, block } : { block }
  })
}

/**
 * The block of a raw head and its transactions. `info` is what nodes with bulk calls say of every block (go-iost since
 * 2020: null), so the block is the one getBlockByNumber gives.
 */
const blockOf = (head: RawHead, transactions: Block['transactions']): Block => ({
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
  origInfo: origInfoOf(head.info),
  transactions,
})

const isWhole = (block: Block, head: RawHead): boolean => {
  try {
    checkContents(block, { head })
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

/**
 * Blocks of raw heads out of the bulk answer of their transactions; undefined where they do not make a whole block (the
 * node leaves transactions without actions out), so that it is asked for by itself.
 */
export const assemble = (
  heads: readonly RawHead[],
  lists: readonly BlockTransactions[],
): readonly (Block | undefined)[] => {
  const listAt = new Map(lists.map(list => [list.height, list]))
  return heads.map(head => {
    const list = listAt.get(head.height)
    if (list?.status === 'PENDING') return undefined
    const block = blockOf(head, list?.transactions ?? [])
    return isWhole(block, head) ? block : undefined
  })
}
