import type { Block } from '#chain/block.ts'
import { decodeBlockTransactions } from '#chain/decode.ts'
import { changesProducers } from '#chain/producer-words.ts'
import type { ProofLevel } from '#chain/proof.ts'
import { decodeRawHeads, type RawHead } from '#chain/raw-head.ts'
import { assemble } from './assemble.ts'
import { type Range, requireHeads } from './fetch-heads.ts'

/** The part of one block in a bulk answer: both, or only the head, or nothing. */
export type Part = { readonly head?: RawHead; readonly block?: Block }

/** The answers of both bulk calls for a range of blocks, as the node wrote them. */
export type BulkAnswers = Range & {
  readonly prove: ProofLevel
  readonly heads: string
  readonly lists: string
}

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
