import { formatUnits } from '#chain/amount.ts'
import type { LoadedBlock, Receipt } from '#chain/block.ts'
import { chainOf, genesis, receipt, START, transaction } from './hand-made.ts'

export const VOTED = ['alice00', 'bob0000', 'carol00']
const HOUR = 3_600_000_000_000n

/** Blocks hours to days apart in which votes may change, then two a day with votes for every producer. */
type Length = { readonly quiet: number; readonly busy: number }

/** A chain of several months in which votes are given and withdrawn. */
export function votedChain(random: () => number, { quiet, busy }: Length): readonly LoadedBlock[] {
  const upTo = (most: number): number => Math.floor(random() * most)
  const given = new Map<string, bigint>()
  const vote = (producer: string): Receipt => {
    const now = given.get(producer) ?? 0n
    const isTaken = random() < 0.4
    // Sometimes all votes are withdrawn, so that a day may end with the votes it began with.
    const units = isTaken ? (random() < 0.3 ? now : now / 3n) : BigInt(upTo(2 ** 50))
    given.set(producer, now + (isTaken ? -units : units))
    const args = ['alice00', producer, formatUnits(units, 8)]
    return receipt(`vote_producer.iost/${isTaken ? 'unvote' : 'vote'}`, args)
  }
  const some = () => Array.from({ length: upTo(4) }, () => vote(VOTED[upTo(VOTED.length)] ?? ''))
  const register = VOTED.map((name, at) =>
    receipt('vote_producer.iost/applyRegister', [name, `key${at}`, '', '', '', true]),
  )
  const receipts = [
    register,
    ...Array.from({ length: quiet }, some),
    ...Array.from({ length: busy }, () => [...some(), ...VOTED.map(vote)]),
  ]
  let time = START
  return chainOf([genesis()], ...receipts.map(list => [transaction({ receipts: list })])).map(loaded => {
    const { height } = loaded.block
    time += BigInt(height > quiet ? 1 + upTo(20) : 1 + Math.floor(random() ** 4 * 200)) * HOUR
    return { ...loaded, block: { ...loaded.block, time } }
  })
}
