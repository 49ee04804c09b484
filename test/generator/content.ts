import { cycleTransaction } from './cycle-transaction.ts'
import { dawnTransactions } from './dawn.ts'
import { genesisTx } from './genesis.ts'
import { inflates, inflationTx } from './inflation.ts'
import type { Tx } from './transaction.ts'
import { type World, witnessOf } from './world.ts'

/** The contribute that is paid for one block, in tokens; the next constant is in 10^-8. */
const CONTRIBUTE = '3.28513441'
const CONTRIBUTE_UNITS = 328_513_441
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
  const end = schedule.first(offset + 1)
  const made: Tx[] = []
  for (let k = schedule.first(offset); k < end; k += 1) made.push(cycleTransaction(world, cycle, k))
  return made
}

const listsProducers = (height: number): boolean => height % STAT_BLOCKS === 0

/** Whether the base transaction of a block only pays the reward for the parent. */
export const onlyRewards = (world: World, height: number): boolean =>
  !listsProducers(height) && !inflates(world, height)

/**
 * The receipts of a block's base transaction: the reward for the parent and, at intervals, the list of producers and
 * the inflation.
 */
export function baseReceipts(
  world: World,
  height: number,
): readonly { readonly name: string; readonly content: string }[] {
  const reward = {
    name: 'token.iost/issue',
    content: `["contribute","${witnessOf(world, height - 1).account}","${CONTRIBUTE}"]`,
  }
  if (onlyRewards(world, height)) return [reward]
  const list = JSON.stringify(world.producers.map(({ key }) => key))
  const stat = { name: 'vote_producer.iost/stat', content: `{"currentList":${list},"pendingList":${list}}` }
  return [...(listsProducers(height) ? [stat] : []), ...(inflates(world, height) ? inflationTx().receipts : []), reward]
}

/** The receiver of the reward for the parent block, and the amount in 10^-8. */
export const rewardOf = (world: World, height: number): { readonly to: string; readonly units: number } => ({
  to: witnessOf(world, height - 1).account,
  units: CONTRIBUTE_UNITS,
})
