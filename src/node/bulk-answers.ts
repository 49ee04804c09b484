import type { Block } from '#chain/block.ts'
import type { RawHead } from '#chain/head.ts'
import type { ProofLevel } from '#chain/proof.ts'

/** Heights of blocks, both inclusive. */
export type HeightRange = { readonly from: number; readonly to: number }

/** The part of one block in a bulk answer: head and block, one of them, or neither. */
export type BulkPart = { readonly head?: RawHead; readonly block?: Block }

/** The node's unparsed answers to both bulk calls for a range of blocks. */
export type BulkAnswers = HeightRange & {
  readonly prove: ProofLevel
  readonly heads: string
  readonly lists: string
}
