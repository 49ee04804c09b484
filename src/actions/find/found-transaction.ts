import type { HeadBlock } from '#head/shown.ts'

/** Where a transaction stands in the chain. */
export type Place = {
  readonly height: number
  /** Position in the block. */
  readonly tx: number
  /** Its block, where that is not published yet. */
  readonly above?: HeadBlock
}

/** A transaction and how far it has come. */
export type FoundTransaction = {
  /** `PENDING` in the pool, `PACKED` in a block, `IRREVERSIBLE`. */
  readonly status: string
  /** `-1` until it is in an irreversible block. */
  readonly blockNumber: string
  /** The node's transaction object, compact JSON text. */
  readonly body: string
  /** Absent: it is in no block, or in one that only the node knows. */
  readonly place?: Place
}

/** `blockNumber` of a transaction whose block may still be replaced, or that is in none. */
export const NO_BLOCK = '-1'
