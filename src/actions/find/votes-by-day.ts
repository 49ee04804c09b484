import type { ProducerDoc } from '#indices/producer.ts'

type Votes = Pick<ProducerDoc, 'votes' | 'opening_votes'>

/** Days in the weekly change of votes, the day of the published block included. */
export const DAYS_OF_CHANGE = 7

/**
 * A producer's votes at the beginning of a UTC day among the last `VOTE_DAYS`, in 10^-8 IOST: those before
 * the first change on or after that day.
 */
export function getOpeningVotes({ votes, opening_votes }: Votes, day: number): bigint {
  const next = opening_votes.find(([changed]) => changed >= day)
  return next === undefined ? votes : BigInt(next[1])
}

/** Votes at the end of a day, and their change since its beginning. */
export type VotesOfDay = { readonly day: number; readonly votes: bigint; readonly change: bigint }

/** The votes of each day from `from` to `to`; all of them must be known. */
export const votesByDay = (producer: Votes, from: number, to: number): readonly VotesOfDay[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => {
    const day = from + at
    const votes = getOpeningVotes(producer, day + 1)
    return { day, votes, change: votes - getOpeningVotes(producer, day) }
  })
