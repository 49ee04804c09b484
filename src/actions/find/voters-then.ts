import { type SeriesDoc, seriesOf } from '#indices/series.ts'
import { entriesIn } from '#indices/series-entry.ts'
import { votes } from '#indices/vote.ts'
import type { View } from '#store/port.ts'
import { wholeOrder } from '../list/whole-list.ts'
import type { Ranked } from './kept-rankings.ts'
import { isBy, partsInRuns, seriesIn } from './series.ts'

/** Votes by voter, in 10^-8. */
type Tally = Map<string, bigint>

/**
 * Who voted for a producer after a block: votes descending, then by name. What changed until then is added up, or what
 * changed since is taken from the votes of now, whichever is less.
 */
export const votersThen = async (
  view: View,
  producer: string,
  height: number,
): Promise<readonly Ranked[]> => {
  const series = await seriesIn(view, seriesOf.producer(producer))
  const [part] = (await series?.lastParts([isBy(height)])) ?? []
  if (series === undefined || part === undefined) return []
  const all = series.partCount
  const isUndone = all - part.part < part.part
  const tally: Tally = isUndone ? await votersNow(view, producer) : new Map()
  for await (const parts of partsInRuns(series, isUndone ? [part.part, all - 1] : [0, part.part]))
    for (const each of parts) count(tally, each, { height, isUndone })
  return rankedBy(tally)
}

const votersNow = async (view: View, producer: string): Promise<Tally> => {
  const docs = await wholeOrder(view, { index: votes, order: 'voters', group: producer })
  return new Map(docs.map(doc => [doc.voter, doc.votes]))
}

/** Adds the changes of a part up to a height, or takes back those after it. */
const count = (
  tally: Tally,
  { entries, height: base }: SeriesDoc,
  { height, isUndone }: { readonly height: number; readonly isUndone: boolean },
): void => {
  for (const entry of entriesIn(entries, base)) {
    if (entry.height > height !== isUndone) continue
    const [voter = ''] = entry.more
    tally.set(voter, (tally.get(voter) ?? 0n) + (isUndone ? -entry.change : entry.change))
  }
}

/** Those with more than nothing: largest first, then by name. */
export const rankedBy = (figures: Iterable<Ranked>): readonly Ranked[] =>
  [...figures]
    .filter(([, units]) => units > 0n)
    .sort(([a, many], [b, other]) => (many === other ? (a < b ? -1 : 1) : many > other ? -1 : 1))
