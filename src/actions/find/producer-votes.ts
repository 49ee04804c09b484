import type { ProducerDoc } from '#indices/producer.ts'
import { series, seriesOf } from '#indices/series.ts'
import { parseEntries } from '#indices/series-entry.ts'
import { votes } from '#indices/vote.ts'
import type { View } from '#store/port.ts'
import { readBlockTimes } from './blocks-at.ts'
import { type CountPart, countTallied, type RankingContext, readPastRanking, tallyVoters } from './past-ranking.ts'
import type { StateMoment } from './point.ts'
import { CHANGES_OF_PART, createHeightTest, findSeries, partsInRuns } from './series.ts'

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
/** Decimals of the rate. */
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

/** A voter's votes at the first and the last of two blocks, in 10^-8 IOST. */
export type Share = {
  readonly voter: string
  readonly first: bigint
  readonly last: bigint
  /** Sum of votes × nanoseconds between the two blocks. */
  readonly weight: bigint
}

type Running = { readonly first: bigint; votes: bigint; since: bigint; weight: bigint }

type Period = readonly [StateMoment, StateMoment]

/**
 * The shares of a producer's voters between the times of two blocks; a change counts from the time of its
 * block on. All voters with votes at any moment of the period are listed, by weight, largest first, then by
 * name. Throws like `readPastRanking`.
 */
export function readVoteShares(context: RankingContext, producer: string, period: Period): Promise<readonly Share[]> {
  const [start, end] = period
  return readPastRanking(context, {
    name: `shares/${producer}/${start.height}`,
    what: {
      en: `The shares of the voters of producer '${producer}' from block ${start.height} to ${end.height}`,
      zh: `生产者 '${producer}' 从区块 ${start.height} 到 ${end.height} 的投票者份额`,
    },
    height: end.height,
    state: [votes, series],
    countRows: async view => {
      const [before, within] = await Promise.all([
        countTallied(view, { producer, height: start.height }),
        countVoteChanges(view, producer, period),
      ])
      return before + within
    },
    make: (view, part) => addedUp(view, producer, { period, part }),
  })
}

async function addedUp(
  view: View,
  producer: string,
  { period, part }: { readonly period: Period; readonly part: CountPart },
): Promise<readonly Share[]> {
  const [start, end] = period
  const voters = new Map<string, Running>()
  for (const [voter, units] of await tallyVoters(view, { producer, height: start.height, part }))
    voters.set(voter, { first: units, votes: units, since: start.time, weight: 0n })
  for await (const { voter, change, time } of readVoteChanges(view, producer, { period, part })) {
    const known = voters.get(voter) ?? { first: 0n, votes: 0n, since: time, weight: 0n }
    advance(known, time)
    known.votes += change
    voters.set(voter, known)
  }
  return [...voters]
    .map(([voter, running]) => {
      advance(running, end.time)
      return { voter, first: running.first, last: running.votes, weight: running.weight }
    })
    .sort((a, b) => (a.weight === b.weight ? (a.voter < b.voter ? -1 : 1) : a.weight > b.weight ? -1 : 1))
}

function advance(of: Running, time: bigint): void {
  of.weight += of.votes * (time - of.since)
  of.since = time
}

type Vote = { readonly voter: string; readonly change: bigint; readonly time: bigint }

/** The series of a producer's votes, and the first and the last of its parts that have changes of a period. */
async function findVoteParts(view: View, producer: string, [start, end]: Period) {
  const changes = await findSeries(view, seriesOf.producer(producer))
  const [from, to] = (await changes?.lastParts([createHeightTest(start.height), createHeightTest(end.height)])) ?? []
  if (changes === undefined || to === undefined) return undefined
  return { changes, first: from?.part ?? 0, last: to.part }
}

/** The changes that `readVoteChanges` reads, approximately. */
async function countVoteChanges(view: View, producer: string, period: Period): Promise<number> {
  const parts = await findVoteParts(view, producer, period)
  return parts === undefined ? 0 : CHANGES_OF_PART * (parts.last - parts.first + 1)
}

/** Changes of a producer's votes after one block and up to another; `part` is called after each chunk. */
const readVoteChanges = async function* (
  view: View,
  producer: string,
  { period, part }: { readonly period: Period; readonly part: CountPart },
): AsyncGenerator<Vote, void, void> {
  const [start, end] = period
  const found = await findVoteParts(view, producer, period)
  if (found === undefined) return
  for await (const parts of partsInRuns(found.changes, [found.first, found.last])) {
    const entries = parts
      .flatMap(each => parseEntries(each.entries, each.height))
      .filter(({ height }) => height > start.height && height <= end.height)
    const heights = entries.map(({ height }) => height)
    const times = await readBlockTimes(view, heights)
    for (const { more, change, height } of entries)
      yield { voter: more[0] ?? '', change, time: times.get(height) ?? end.time }
    await part(entries.length)
  }
}
