import { blockTime } from './time.ts'
import type { Tx } from './transaction.ts'
import type { World } from './world.ts'

/** A place in the cycles, with its transaction. */
export type At = {
  readonly world: World
  readonly cycle: number
  /** Number in the cycle (`k`), and number of the transaction of the first half that it is or reverts (`j`). */
  readonly k: number
  readonly j: number
  readonly back: boolean
  readonly tx: Tx
  /** A random number that is the same for a transaction and the one that reverts it. */
  readonly drawn: number
}

export const IOST = 100_000_000
const MEMOS = [
  '',
  'ok',
  'thanks',
  'payment 42',
  'no. 7',
  '付款',
  'a longer memo of several words, as exchanges ask for',
]

export const amountOf = ({ drawn }: At, most: number): number => 1 + (drawn % most)
export const memoOf = ({ drawn }: At): string => MEMOS[(drawn >>> 20) % MEMOS.length] ?? ''
export const name = ({ world }: At, index: number): string => world.account(index)

/** The time when an amount frozen here is due: after this block, and before the amount is needed. */
export function dueOf({ world, cycle, k, j, back }: At): string {
  const { schedule, settings, dawn } = world
  const from = schedule.offset(k)
  const until = back ? settings.cycle - 1 : schedule.offset(j + schedule.count / 2)
  return blockTime(settings.seed, dawn + cycle * settings.cycle + Math.floor((from + until) / 2))
}

export function call(at: At, contract: string, action: string, data: string, returned = '[""]'): void {
  at.tx.actions.push({ contract, name: action, data, from: at.tx.publisher, to: contract })
  at.tx.returns.push(returned)
}
