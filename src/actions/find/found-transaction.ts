/** A transaction and how far it has come. */
export type FoundTransaction = {
  /** `PENDING` in the pool, `PACKED` in a block, `IRREVERSIBLE`. */
  readonly status: string
  /** `-1` until it is in an irreversible block. */
  readonly blockNumber: string
  /** The node's transaction object, compact JSON text. */
  readonly body: string
}

/** `blockNumber` of a transaction whose block may still be replaced, or that is in none. */
export const NO_BLOCK = '-1'
