import { encodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { checkBlock } from '#chain/check.ts'
import type { BlockTransactions } from '#chain/decode.ts'
import { headHash, type RawHead } from '#chain/raw-head.ts'
import { Failure } from '#failure/failure.ts'

/**
 * The block of a raw head and its transactions. `info` and `orig_info` are what nodes with bulk calls say of every block
 * (go-iost since 2020: null and ""), so the block is the one getBlockByNumber gives.
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
  origInfo: '',
  transactions,
})

const isWhole = (block: Block): boolean => {
  try {
    checkBlock(block, undefined)
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

/**
 * Blocks `from` … `to` out of the two bulk answers; undefined where they do not make a whole block (the node leaves
 * transactions without actions out), so that it is asked for by itself.
 */
export const assemble = (
  range: { readonly from: number; readonly to: number },
  heads: readonly RawHead[],
  lists: readonly BlockTransactions[],
): readonly (Block | undefined)[] => {
  const headAt = new Map(heads.map(head => [head.height, head]))
  const listAt = new Map(lists.map(list => [list.height, list]))
  return Array.from({ length: range.to - range.from + 1 }, (_, offset) => {
    const head = headAt.get(range.from + offset)
    const list = listAt.get(range.from + offset)
    if (head === undefined || list?.status === 'PENDING') return undefined
    const block = blockOf(head, list?.transactions ?? [])
    return isWhole(block) ? block : undefined
  })
}
