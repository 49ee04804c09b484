import { toUnits } from '#chain/amount.ts'
import type { Block } from '#chain/block.ts'

/** A vote or unvote in the receipts of the blocks, in 10^-8 IOST. */
type PlainVote = {
  readonly height: number
  readonly hash: string
  readonly voter: string
  readonly producer: string
  readonly change: bigint
}

/** All votes in the order of the chain. Independent of `src/derive`. */
export function plainBallots(blocks: Iterable<Block>): readonly PlainVote[] {
  const all: PlainVote[] = []
  for (const { height, transactions } of blocks)
    for (const { hash, receipt } of transactions)
      for (const { funcName, content } of receipt.statusCode === 'SUCCESS' ? receipt.receipts : []) {
        if (funcName !== 'vote_producer.iost/vote' && funcName !== 'vote_producer.iost/unvote') continue
        const [voter = '', producer = '', amount = ''] = JSON.parse(content) as string[]
        const units = toUnits(amount, 8)
        all.push({ height, hash, voter, producer, change: funcName.endsWith('/vote') ? units : -units })
      }
  return all
}

/** Votes summed by a name after a block, largest first, then by name. Sums of 0 are left out. */
export function plainTally(
  votes: readonly PlainVote[],
  nameOf: (vote: PlainVote) => string,
): readonly (readonly [string, bigint])[] {
  const sums = new Map<string, bigint>()
  for (const vote of votes) sums.set(nameOf(vote), (sums.get(nameOf(vote)) ?? 0n) + vote.change)
  return [...sums]
    .filter(([, sum]) => sum !== 0n)
    .sort(([a, many], [b, other]) => (many === other ? (a < b ? -1 : 1) : many > other ? -1 : 1))
}
