import { ownTransactions } from './own-transactions.ts'

/** The fields of a block that tell how busy the chain is. */
type Made = { readonly number: string | number; readonly time: string; readonly tx_count: number }

/**
 * Transactions a second over the time between the first and the last of some blocks that stand beside each other, newest
 * first, with one decimal, without the base transaction that the chain puts into each block. undefined: no time went by.
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
