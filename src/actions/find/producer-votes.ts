import type { ProducerDoc } from '#indices/producer.ts'

type Votes = Pick<ProducerDoc, 'votes' | 'opening_votes'>

/** Days in the weekly change of votes, the day of the published block included. */
export const DAYS_OF_CHANGE = 7

/** Votes at the beginning of a UTC day among the last `VOTE_DAYS`: those before the first change on or after it. */
export function getOpeningVotes({ votes, opening_votes }: Votes, day: number): bigint {
  const next = opening_votes.find(([changed]) => changed >= day)
  return next === undefined ? votes : BigInt(next[1])
}

/** Votes at the end of a day, and their change since its beginning. */
type VotesOfDay = { readonly day: number; readonly votes: bigint; readonly change: bigint }

/** The votes of each day from `from` to `to`; all of them must be known. */
export const votesByDay = (producer: Votes, from: number, to: number): readonly VotesOfDay[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => {
    const day = from + at
    const votes = getOpeningVotes(producer, day + 1)
    return { day, votes, change: votes - getOpeningVotes(producer, day) }
  })

/** Number of days in the rate, the current one included (decisions: 30 UTC days of chain time). */
const DAYS = 30
const YEAR = 365n
export const RATE_DECIMALS = 8

/**
 * Yearly return of a voter × 10^8: amount paid to the producer's voters in the last 30 days ÷ votes × 365 ÷
 * 30, rounded half up; 0 without votes. Exact: one division of integers.
 */
export function computeDividendRate({ votes, payouts }: Pick<ProducerDoc, 'votes' | 'payouts'>, today: number): bigint {
  if (votes <= 0n) return 0n
  let paid = 0n
  for (const [day, amount] of payouts) if (day > today - DAYS && day <= today) paid += BigInt(amount)
  const above = paid * YEAR * 10n ** BigInt(RATE_DECIMALS)
  const below = votes * BigInt(DAYS)
  return (2n * above + below) / (2n * below)
}

/** Rank of `own` among all, from 1: by figure, largest first, then by account. */
export function computeRank<T extends { readonly account: string }>(
  all: readonly T[],
  own: T,
  figureOf: (one: T) => bigint,
): number {
  const figure = figureOf(own)
  const ahead = all.filter(other => {
    const theirs = figureOf(other)
    return theirs > figure || (theirs === figure && other.account < own.account)
  })
  return ahead.length + 1
}
