import { type DocOf, defineIndex, hash, hashStart, int, json, packed } from './define.ts'

/** All transactions but base ones, as the node returns them. Id: `transactionId`. */
export const transactions = defineIndex({
  name: 'transactions',
  kind: 'history',
  finds: ['hash8'],
  position: ['height', 'tx'],
  fields: {
    height: int(),
    /** Position in the block. */
    tx: int(),
    hash: hash(),
    hash8: hashStart(),
    /** The node's transaction object with its receipt, compact JSON text. */
    body: packed(),
  },
})
export type TransactionDoc = DocOf<typeof transactions>

/**
 * Transactions per run. Pages touch few runs, and each new block rewrites the last run, which must therefore be small.
 */
export const RUN_LENGTH = 256

/**
 * Positions of the chain's transactions, base ones left out, in chain order. Each run but the last has
 * `RUN_LENGTH` of them. Id: the number of the run, from 0.
 */
export const transactionRuns = defineIndex({
  name: 'transaction-runs',
  kind: 'state',
  fields: {
    /**
     * Three numbers for each block with transactions of the run: the difference from the previous height (for
     * the first block, its height), the position of its first transaction of the run, and their number.
     */
    blocks: json<readonly number[]>(),
  },
})
type TransactionRunDoc = DocOf<typeof transactionRuns>

export const runId = (run: number): string => String(run)

/** Consecutive transactions of one block; `first` is the position of the first one in the block. */
export type Stretch = { readonly height: number; readonly first: number; readonly count: number }

/** The blocks of a run, in order, with the transactions that belong to the run. */
export function listStretches({ blocks }: Pick<TransactionRunDoc, 'blocks'>): readonly Stretch[] {
  const stretches: Stretch[] = []
  let height = 0
  for (let at = 0; at + 2 < blocks.length; at += 3) {
    height += blocks[at] ?? 0
    stretches.push({ height, first: blocks[at + 1] ?? 0, count: blocks[at + 2] ?? 0 })
  }
  return stretches
}

/** The numbers of a run after one more block. */
export function withStretch(
  { blocks }: Pick<TransactionRunDoc, 'blocks'>,
  { height, first, count }: Stretch,
): readonly number[] {
  let last = 0
  for (let at = 0; at < blocks.length; at += 3) last += blocks[at] ?? 0
  return [...blocks, height - last, first, count]
}
