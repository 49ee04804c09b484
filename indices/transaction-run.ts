import { type DocOf, defineIndex } from './define.ts'
import { json } from './fields.ts'

/** Transactions of a run: pages touch few runs, and the chain's next block rewrites the last one, which is kept small. */
export const RUN_LENGTH = 256

/**
 * Where the transactions of the chain stand, base ones left out: in its order, `RUN_LENGTH` in each run but the last. Id:
 * the number of the run from 0.
 */
export const transactionRuns = defineIndex({
  name: 'transaction-runs',
  kind: 'state',
  fields: {
    /**
     * For each block with transactions of the run three numbers: how many blocks after the one before it (the first: its
     * height), the position of the first of them in the block, and how many there are.
     */
    blocks: json<readonly number[]>(),
  },
})
export type TransactionRunDoc = DocOf<typeof transactionRuns>

export const runId = (run: number): string => String(run)

/** Transactions in one block, one after another: `first` is the position in the block. */
export type Stretch = { readonly height: number; readonly first: number; readonly count: number }

/** The blocks of a run with its transactions in them, in order. */
export const stretchesOf = ({ blocks }: Pick<TransactionRunDoc, 'blocks'>): readonly Stretch[] => {
  const stretches: Stretch[] = []
  let height = 0
  for (let at = 0; at + 2 < blocks.length; at += 3) {
    height += blocks[at] ?? 0
    stretches.push({ height, first: blocks[at + 1] ?? 0, count: blocks[at + 2] ?? 0 })
  }
  return stretches
}

/** The numbers of a run after one more block. */
export const withStretch = (
  { blocks }: Pick<TransactionRunDoc, 'blocks'>,
  { height, first, count }: Stretch,
): readonly number[] => {
  let last = 0
  for (let at = 0; at < blocks.length; at += 3) last += blocks[at] ?? 0
  return [...blocks, height - last, first, count]
}
