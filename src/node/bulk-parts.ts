import { decodeBlockTransactions } from '#chain/decode.ts'
import { changesProducers } from '#chain/producer-words.ts'
import { decodeRawHeads } from '#chain/raw-head.ts'
import { assemble } from './assemble.ts'
import type { BulkAnswers, Part } from './bulk-answers.ts'
import { requireHeads } from './fetch-heads.ts'

/**
 * The blocks of bulk answers, each whole by itself: what `fetchBlocks` does with the answers, where nothing is left to be
 * asked for. A head is kept where it is needed: of the last block, of blocks that are not whole, and of those that change
 * who produces. Throws Failure 'bad_block'.
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
