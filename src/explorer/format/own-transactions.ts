import { isBasePlace } from '#chain/base-transaction.ts'

/**
 * The number of a block's transactions without its base transaction, like in lists of transactions. `count`
 * includes it.
 */
export const ownTransactions = (number: number, count: number): number =>
  isBasePlace({ height: number, tx: 0 }) ? Math.max(0, count - 1) : count
