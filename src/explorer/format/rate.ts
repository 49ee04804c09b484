import { ownTransactions } from './own-transactions.ts'

/** The fields of a block that determine the rate. */
type Made = { readonly number: string | number; readonly time: string; readonly tx_count: number }

/**
 * Transactions per second between the first and the last of some consecutive blocks, newest first, with one
 * decimal. The base transaction of each block does not count. undefined: no time passed.
 */
export const rateOf = (blocks: readonly Made[]): string | undefined => {
  const [newest] = blocks
  const oldest = blocks.at(-1)
  if (newest === undefined || oldest === undefined) return undefined
  const seconds = Number((BigInt(newest.time) - BigInt(oldest.time)) / 1_000_000n) / 1_000
  if (seconds <= 0) return undefined
  const made = blocks
    .slice(0, -1)
    .reduce((sum, { number, tx_count }) => sum + ownTransactions(Number(number), tx_count), 0)
  return (made / seconds).toFixed(1)
}
