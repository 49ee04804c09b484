import { issue, transfer } from './movements.ts'
import { FOUNDATION, TOKENS } from './names.ts'
import { amountText, emptyTx, type Tx } from './transaction.ts'
import type { World } from './world.ts'

/** A third of what is issued each time, in 10^-8 IOST. */
const THIRD = 729_927_007_299_270n

/** Whether the base transaction of a block issues IOST. On the real chain this is once in 172,800 blocks. */
export const inflates = ({ settings }: World, height: number): boolean =>
  height > 0 && height % settings.inflation === 0

/** Number of blocks up to `height` that issue IOST. */
export const inflationsUntil = ({ settings }: World, height: number): number =>
  Math.max(0, Math.floor(height / settings.inflation))

/** The receipts that a base transaction has before the reward, with their rows and effects: the same each time. */
export function inflationTx(): Tx {
  const tx = emptyTx('base.iost', 0)
  for (const owner of [FOUNDATION, 'bonus.iost', 'issue.iost']) issue(tx, TOKENS.iost, owner, THIRD)
  transfer(tx, TOKENS.iost, ['issue.iost', 'vote_producer.iost'], THIRD)
  tx.receipts.push({
    name: 'vote_producer.iost/topupCandidateBonus',
    content: `["${amountText(THIRD, TOKENS.iost.decimals)}","issue.iost"]`,
  })
  return tx
}
