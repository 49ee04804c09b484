import { fromUnits, toUnits } from '#chain/amount.ts'
import type { Block } from '#chain/block.ts'

const DAY_NS = 86_400_000_000_000n

/** A change of a producer's votes: the time in nanoseconds since 1970 and the difference in 10^-8 IOST. */
type VoteChange = { readonly producer: string; readonly time: bigint; readonly units: bigint }

/** Every change of votes in the receipts of the blocks. Independent of `src/derive`. */
export function voteChanges(blocks: Iterable<Block>): readonly VoteChange[] {
  const changes: VoteChange[] = []
  for (const { time, transactions } of blocks)
    for (const { receipt } of transactions) {
      if (receipt.statusCode !== 'SUCCESS') continue
      for (const { funcName, content } of receipt.receipts) {
        const [, name = ''] = /^vote_producer\.iost\/(vote|unvote)$/.exec(funcName) ?? []
        if (name === '') continue
        const [, producer = '', amount = ''] = JSON.parse(content) as string[]
        const units = toUnits(amount, 8)
        changes.push({ producer, time, units: name === 'vote' ? units : -units })
      }
    }
  return changes
}

/** The rows of get-producer-votes, computed from all changes and from the times of the first and the last block. */
export function plainVoteDays(changes: readonly VoteChange[], first: bigint, last: bigint): readonly object[] {
  const today = last / DAY_NS
  const begin = first / DAY_NS > today - 30n ? first / DAY_NS : today - 30n
  const before = (day: bigint): bigint =>
    changes.filter(({ time }) => time < day * DAY_NS).reduce((sum, { units }) => sum + units, 0n)
  return Array.from({ length: Number(today - begin) + 1 }, (_, at) => {
    const day = begin + BigInt(at)
    return {
      date: new Date(Number((day * DAY_NS) / 1_000_000n)).toISOString().slice(0, 10),
      complete: day !== today,
      votes: fromUnits(before(day + 1n), 8),
      change: fromUnits(before(day + 1n) - before(day), 8),
    }
  })
}

/** `votes_change_7d`, computed from all changes. */
export function plainChangeOfWeek(changes: readonly VoteChange[], last: bigint): string {
  const begin = (last / DAY_NS - 6n) * DAY_NS
  return fromUnits(
    changes.filter(({ time }) => time >= begin).reduce((sum, { units }) => sum + units, 0n),
    8,
  )
}
