import { seriesOf } from '#indices/series.ts'
import { entriesIn } from '#indices/series-entry.ts'
import type { View } from '#store/port.ts'
import { timesOf } from './blocks-at.ts'
import type { Moment } from './point.ts'
import { isBy, partsInRuns, seriesIn } from './series.ts'
import { tallyThen } from './voters-then.ts'

/** Votes of a voter between two blocks, in 10^-8 IOST. */
export type Share = {
  readonly voter: string
  readonly first: bigint
  readonly last: bigint
  /** Σ of votes × nanoseconds. */
  readonly weight: bigint
}

type Running = { readonly first: bigint; votes: bigint; since: bigint; weight: bigint }

/**
 * What each voter of a producer had between the times of two blocks: a change counts from the time of its block on. Those
 * who had votes at any moment of it, by weight, largest first, then by name.
 */
export const sharesBetween = async (
  view: View,
  producer: string,
  [start, end]: readonly [Moment, Moment],
): Promise<readonly Share[]> => {
  const voters = new Map<string, Running>()
  for (const [voter, votes] of await tallyThen(view, { producer, height: start.height }))
    voters.set(voter, { first: votes, votes, since: start.time, weight: 0n })
  for await (const { voter, change, time } of changesWithin(view, producer, [start, end])) {
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

const advance = (of: Running, time: bigint): void => {
  of.weight += of.votes * (time - of.since)
  of.since = time
}

type Vote = { readonly voter: string; readonly change: bigint; readonly time: bigint }

/** Changes of the votes of a producer after one block and up to another. */
const changesWithin = async function* (
  view: View,
  producer: string,
  [start, end]: readonly [Moment, Moment],
): AsyncGenerator<Vote, void, void> {
  const series = await seriesIn(view, seriesOf.producer(producer))
  const [from, to] = (await series?.lastParts([isBy(start.height), isBy(end.height)])) ?? []
  if (series === undefined || to === undefined) return
  for await (const parts of partsInRuns(series, [from?.part ?? 0, to.part])) {
    const entries = parts
      .flatMap(part => entriesIn(part.entries, part.height))
      .filter(({ height }) => height > start.height && height <= end.height)
    const times = await timesOf(
      view,
      entries.map(({ height }) => height),
    )
    for (const { more, change, height } of entries)
      yield { voter: more[0] ?? '', change, time: times.get(height) ?? end.time }
  }
}
