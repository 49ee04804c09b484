import type { Block, LoadedBlock } from '#chain/block.ts'
import type { RawHead } from '#chain/head.ts'
import type { ProofLevel } from '#chain/proof.ts'

/** Heights of blocks, both included. */
export type Range = { readonly from: number; readonly to: number }

/** The part of one block in a bulk answer: both, or only the head, or nothing; `notes` only with a block. */
export type Part = {
  readonly head?: RawHead
  readonly block?: Block
  readonly notes?: LoadedBlock['notes']
}

/** The answers of both bulk calls for a range of blocks, as the node wrote them. */
export type BulkAnswers = Range & {
  readonly prove: ProofLevel
  readonly heads: string
  readonly lists: string
}
