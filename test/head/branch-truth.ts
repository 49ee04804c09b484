import { type Row, rowsBetween, rowsOfTransaction } from '../generator/rows.ts'
import { txHash } from '../generator/transaction-hash.ts'
import type { ForkBlock, Forks } from './fork-node.ts'

/** A row of a branch with the hash of its transaction, which depends on the branch. */
export type TrueRow = Row & { readonly hash: string }

/** The correct data of a block, computed from its plan. */
export type BlockTruth = {
  readonly rows: readonly TrueRow[]
  /** Hashes of its transactions, without the base transaction. */
  readonly hashes: readonly string[]
}

/** The correct data of the blocks of a chain with forks. */
export function branchTruth(forks: Forks): (block: ForkBlock) => BlockTruth {
  const { chain, base } = forks
  const { world } = chain
  const deployed = new Set<string>()
  for (const _ of rowsBetween(world, 0, base.made.height, deployed));
  const known = new WeakMap<ForkBlock, BlockTruth>()
  const truthOf = ({ made: { height, users } }: ForkBlock): BlockTruth => {
    const hashes = users.map(({ tx, place }) => txHash(world.seals, tx, place))
    const rows = users.flatMap(({ tx }, index) =>
      rowsOfTransaction(tx, { height, position: index + 1 }, deployed).map(row => ({
        ...row,
        hash: hashes[index] ?? '',
      })),
    )
    return { rows, hashes }
  }
  return block => {
    const truth = known.get(block) ?? truthOf(block)
    known.set(block, truth)
    return truth
  }
}
