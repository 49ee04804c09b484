import { formatUnits, toUnits } from '#chain/amount.ts'
import type { Block } from '#chain/block.ts'
import { readReceipts } from './receipts.ts'

export const plainBallots = (blocks: Iterable<Block>) =>
  [...readReceipts(blocks, /^vote_producer\.iost\/(vote|unvote)$/)].map(({ height, time, tx, name, args }) => {
    const [voter = '', producer = '', amount = ''] = args
    const units = toUnits(amount, 8)
    return { height, time, hash: tx.hash, voter, producer, change: name === 'vote' ? units : -units }
  })

type PlainVote = ReturnType<typeof plainBallots>[number]
const sumOf = (votes: readonly PlainVote[]): bigint => votes.reduce((sum, { change }) => sum + change, 0n)

/** Votes summed by a name after a block, largest first, then by name. Sums of 0 are left out. */
export function plainTally(
  votes: readonly PlainVote[],
  nameOf: (vote: PlainVote) => string,
): readonly (readonly [string, bigint])[] {
  return [...Map.groupBy(votes, nameOf)]
    .map(([name, own]) => [name, sumOf(own)] as const)
    .filter(([, sum]) => sum !== 0n)
    .sort(([a, many], [b, other]) => (many === other ? (a < b ? -1 : 1) : many > other ? -1 : 1))
}

const DAY_NS = 86_400_000_000_000n

/** The rows of get-producer-votes, computed from its votes and from the times of the first and the last block. */
export function plainVoteDays(votes: readonly PlainVote[], first: bigint, last: bigint): readonly object[] {
  const today = last / DAY_NS
  const begin = first / DAY_NS > today - 30n ? first / DAY_NS : today - 30n
  const before = (day: bigint): bigint => sumOf(votes.filter(({ time }) => time < day * DAY_NS))
  return Array.from({ length: Number(today - begin) + 1 }, (_, at) => {
    const day = begin + BigInt(at)
    return {
      date: new Date(Number((day * DAY_NS) / 1_000_000n)).toISOString().slice(0, 10),
      complete: day !== today,
      votes: formatUnits(before(day + 1n), 8),
      change: formatUnits(before(day + 1n) - before(day), 8),
    }
  })
}

/** `votes_change_7d`, computed from a producer's votes. */
export function plainChangeOfWeek(votes: readonly PlainVote[], last: bigint): string {
  const begin = (last / DAY_NS - 6n) * DAY_NS
  return formatUnits(sumOf(votes.filter(({ time }) => time >= begin)), 8)
}

/** All gas pledges and unpledges in the order of the chain, in 10^-8 IOST. */
export const plainPledges = (blocks: Iterable<Block>) =>
  [...readReceipts(blocks, /^gas\.iost\/(pledge|unpledge)$/)].map(({ height, name, args }) => {
    const [pledger = '', beneficiary = '', amount = ''] = args
    const units = toUnits(amount, 8)
    return { height, pledger, beneficiary, change: name === 'pledge' ? units : -units }
  })

/** The amount an account has pledged after a block, for itself and for others. */
export function plainPledged(pledges: ReturnType<typeof plainPledges>, pledger: string, height: number) {
  let [self, others] = [0n, 0n]
  for (const each of pledges) {
    if (each.pledger !== pledger || each.height > height) continue
    if (each.beneficiary === pledger) self += each.change
    else others += each.change
  }
  return { self, others }
}
