import { cycleTransaction } from './cycle.ts'
import { dawnTransactions, genesisTx } from './dawn.ts'
import { FOUNDATION, TOKENS } from './names.ts'
import { addAction, amountText, emptyTx, issue, type Tx, transfer } from './transaction.ts'
import { type World, witnessOf } from './world.ts'

/** The contribute that is paid for one block, in 10^-8. */
const CONTRIBUTE = 328_513_441
/** Interval of the lists of producers, in blocks. */
const STAT_BLOCKS = 1200

/** Σ gas of a block × 100. */
export const gasOf = (transactions: readonly Tx[]): number => transactions.reduce((sum, { gas }) => sum + gas, 0)

/** The transactions of a block without its base transaction. A pure function of the settings and the height. */
export function userTransactions(world: World, height: number): readonly Tx[] {
  const { dawn, schedule, settings } = world
  if (height === 0) return [genesisTx(world)]
  if (height < dawn) return dawnTransactions(world, height)
  const cycle = Math.floor((height - dawn) / settings.cycle)
  const offset = (height - dawn) % settings.cycle
  const first = schedule.first(offset)
  const length = schedule.first(offset + 1) - first
  return Array.from({ length }, (_, at) => cycleTransaction(world, cycle, first + at))
}

/**
 * A block's base transaction: it names the parent's witness and gas × 100, and pays the reward for the parent. At
 * intervals it has the list of producers and the inflation, too.
 */
export function baseTx(world: World, height: number, { gas, time }: { gas: number; time: string }): Tx {
  const parent = witnessOf(world, height - 1)
  const tx = emptyTx('base.iost', 0, { baseTime: time })
  addAction(tx, 'base.iost/exec', `[{"parent":["${parent.key}", "${gas}", false]}]`, ['', ''], '[""]')
  if (height % STAT_BLOCKS === 0) {
    const list = JSON.stringify(world.producers.map(({ key }) => key))
    const content = `{"currentList":${list},"pendingList":${list}}`
    tx.receipts.push({ funcName: 'vote_producer.iost/stat', content })
  }
  if (inflates(world, height)) tx.receipts.push(...inflationTx().receipts)
  tx.receipts.push({
    funcName: 'token.iost/issue',
    content: `["contribute","${parent.account}","${amountText(CONTRIBUTE, 8)}"]`,
  })
  return tx
}

/** The receiver of the reward for the parent block, and the amount in 10^-8. */
export const rewardOf = (world: World, height: number): { readonly to: string; readonly units: number } => ({
  to: witnessOf(world, height - 1).account,
  units: CONTRIBUTE,
})

/** A third of what is issued each time, in 10^-8 IOST. */
const THIRD = 729_927_007_299_270n

/** Whether the base transaction of a block issues IOST. On the real chain this is once in 172,800 blocks. */
export const inflates = ({ settings }: World, height: number): boolean =>
  height > 0 && height % settings.inflation === 0

export const inflationsUntil = ({ settings }: World, height: number): number =>
  Math.max(0, Math.floor(height / settings.inflation))

/** The receipts that a base transaction has before the reward, with their rows and effects: the same each time. */
export function inflationTx(): Tx {
  const tx = emptyTx('base.iost', 0)
  for (const owner of [FOUNDATION, 'bonus.iost', 'issue.iost']) issue(tx, TOKENS.iost, owner, THIRD)
  transfer(tx, TOKENS.iost, ['issue.iost', 'vote_producer.iost'], THIRD)
  tx.receipts.push({
    funcName: 'vote_producer.iost/topupCandidateBonus',
    content: `["${amountText(THIRD, TOKENS.iost.decimals)}","issue.iost"]`,
  })
  return tx
}
