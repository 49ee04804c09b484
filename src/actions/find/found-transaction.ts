import type { HeadBlock } from '#head/head-state.ts'

/** Position of a transaction in the chain. */
export type TransactionPosition = {
  readonly height: number
  /** Position in the block. */
  readonly tx: number
  /** The block of the transaction, if it is not published yet. */
  readonly above?: HeadBlock
}

/** A transaction and its status. */
export type FoundTransaction = {
  /** `PENDING` in the pool, `PACKED` in a block, `IRREVERSIBLE`. */
  readonly status: string
  /** Height of its block; `-1` until that block is irreversible. */
  readonly blockNumber: string
  /** The node's transaction object, compact JSON text. */
  readonly body: string
  /** Absent: the transaction is in no block, or in one that only the node has. */
  readonly place?: TransactionPosition
}

/** `blockNumber` of a transaction that is in no block, or in one that may still be replaced. */
export const NO_BLOCK = '-1'
