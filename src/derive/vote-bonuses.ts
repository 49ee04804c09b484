import { candidateVotes, gainedCoefficient } from '#chain/stake.ts'
import { producers } from '#indices/producer.ts'
import {
  applyVoteEntry,
  formatDoubt,
  parseEntries,
  parsePackedNumber,
  parseVotes,
  series,
  seriesOf,
} from '#indices/series.ts'
import type { StatisticsDoc } from '#indices/statistics.ts'
import type { SeriesDrafts } from './series.ts'
import type { State, Writable } from './state.ts'

/** Bonus credits of voters and producers at vote_producer.iost while a block is derived, in 10^-8 IOST. */
export type VoteBonuses = {
  /**
   * Called before the producer's document has the vote, which is below zero if it was withdrawn. `hasReceipt`: shown by
   * a receipt, not only an action.
   */
  vote(vote: { readonly voter: string; readonly producer: string; readonly change: bigint }, hasReceipt: boolean): void
  addForVoters(producer: string, amount: bigint): void
  addForCandidates(amount: bigint): void
  voterTook(voter: string): void
  candidateTook(producer: string): void
}

const DOUBT = formatDoubt('')
const TX = { kind: 'tx' } as const

export function voteBonuses({
  state,
  statistics,
  series: past,
}: {
  state: State
  statistics: Writable<StatisticsDoc>
  series: SeriesDrafts
}): VoteBonuses {
  const coefficients = openSums(state, past)
  const named = openNamedValues(state, past)
  const { candidatesCoefficient } = seriesOf
  const coefficientOf = (producer: string): bigint => coefficients.get(seriesOf.votersCoefficient(producer))
  const votesOf = (producer: string): bigint => state.get(producers, producer)?.votes ?? 0n
  const doubt = (key: string, name: string, isIn: boolean): void => {
    const before = named.get(key, name)
    if (isIn !== before > 0n) named.add(key, name, isIn ? 1n : -1n)
  }
  return {
    vote: ({ voter, producer, change }, hasReceipt) => {
      const masks = seriesOf.voterMasks(voter)
      const mask = seriesOf.candidateMask(producer)
      const votes = votesOf(producer)
      const more = candidateVotes(votes + change) - candidateVotes(votes)
      named.add(masks, producer, coefficientOf(producer) * change)
      named.add(mask, '', coefficients.get(candidatesCoefficient) * more)
      named.count(seriesOf.voter(voter), producer, change)
      statistics.candidate_votes += more
      if (hasReceipt) return
      doubt(masks, formatDoubt(producer), true)
      doubt(mask, DOUBT, true)
    },
    addForVoters: (producer, amount) =>
      coefficients.add(seriesOf.votersCoefficient(producer), gainedCoefficient(amount, votesOf(producer))),
    addForCandidates: amount =>
      coefficients.add(candidatesCoefficient, gainedCoefficient(amount, statistics.candidate_votes)),
    voterTook: voter => {
      const masks = seriesOf.voterMasks(voter)
      // The contract skips a producer without votes of the voter, so the bonus earned there stays.
      const pairs = [...named.all(seriesOf.voter(voter))].filter(([, votes]) => votes > 0n)
      for (const [producer, votes] of pairs) {
        named.add(masks, producer, coefficientOf(producer) * votes - named.get(masks, producer))
        if (statistics.votes_told) doubt(masks, formatDoubt(producer), false)
      }
    },
    candidateTook: producer => {
      const mask = seriesOf.candidateMask(producer)
      const all = coefficients.get(candidatesCoefficient) * candidateVotes(votesOf(producer))
      named.add(mask, '', all - named.get(mask, ''))
      if (statistics.votes_told) doubt(mask, DOUBT, false)
    },
  }
}

/** Current values of series whose opening is a sum. */
function openSums(state: State, past: SeriesDrafts) {
  const known = new Map<string, bigint>()
  const get = (key: string): bigint => {
    const before = known.get(key)
    if (before !== undefined) return before
    const doc = state.get(series, key)
    const sum = doc === undefined ? 0n : parsePackedNumber(doc.gained) - parsePackedNumber(doc.lost)
    known.set(key, sum)
    return sum
  }
  return {
    get,
    add: (key: string, change: bigint): void => {
      known.set(key, get(key) + change)
      past.note(past.open(key), change, TX)
    },
  }
}

/** Current values by name, of series whose changes carry a name. */
function openNamedValues(state: State, past: SeriesDrafts) {
  const known = new Map<string, Map<string, bigint>>()
  const all = (key: string): Map<string, bigint> => {
    const before = known.get(key)
    if (before !== undefined) return before
    const doc = state.get(series, key)
    const sums = new Map(
      doc === undefined ? [] : parseEntries(doc.entries, doc.height).reduce(applyVoteEntry, parseVotes(doc.opening)),
    )
    known.set(key, sums)
    return sums
  }
  const get = (key: string, name: string): bigint => all(key).get(name) ?? 0n
  /** Counts a change that the caller records in the series itself. */
  const count = (key: string, name: string, change: bigint): void => {
    all(key).set(name, get(key, name) + change)
  }
  return {
    all,
    get,
    count,
    add: (key: string, name: string, change: bigint): void => {
      count(key, name, change)
      past.note(past.open(key), change, name === '' ? TX : { ...TX, more: [name] })
    },
  }
}
