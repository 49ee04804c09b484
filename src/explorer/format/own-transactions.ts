import { isBasePlace } from '#chain/base-transaction.ts'

/** Transactions of a block without its base transaction, as lists of transactions count them. `count` is that of all. */
export const ownTransactions = (number: number, count: number): number =>
  isBasePlace({ height: number, tx: 0 }) ? Math.max(0, count - 1) : count
