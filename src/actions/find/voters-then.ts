import { producers } from '#indices/producer.ts'
import { type SeriesDoc, series, seriesOf } from '#indices/series.ts'
import { parseEntries } from '#indices/series-entry.ts'
import { votes } from '#indices/vote.ts'
import type { View } from '#store/port.ts'
import { orderInRuns } from '../list/whole-list.ts'
import type { Ranked } from './ranking-cache.ts'
import { type CountPart, type RankingContext, readPastRanking } from './ranking-then.ts'
import { CHANGES_OF_PART, createHeightTest, findSeries, partsInRuns } from './series.ts'

/** Votes by voter, in 10^-8. */
type Tally = Map<string, bigint>

/**
 * The voters of a producer after a block: votes descending, then by name. They are computed by adding up the changes
 * until then, or by subtracting the later ones from the current votes, whichever are fewer. Throws like `readPastRanking`.
 */
export const readPastVoters = (context: RankingContext, producer: string, height: number): Promise<readonly Ranked[]> =>
  readPastRanking(context, {
    name: `voters/${producer}`,
    height,
    what: {
      en: `The voters of producer '${producer}' at block ${height}`,
      zh: `生产者 '${producer}' 在区块 ${height} 的投票者`,
    },
    state: [votes, series],
    countRows: view => countTallied(view, { producer, height }),
    make: (view, part) => tallyVoters(view, { producer, height, part }),
  })

type Then = { readonly producer: string; readonly height: number; readonly part: CountPart }

/** The parts of a producer's votes: all of them, the last one up to a block, and whether later ones are undone. */
async function readVoterReach(view: View, { producer, height }: Omit<Then, 'part'>) {
  const changes = await findSeries(view, seriesOf.producer(producer))
  const [part] = (await changes?.lastParts([createHeightTest(height)])) ?? []
  if (changes === undefined || part === undefined) return undefined
  const all = changes.partCount
  return { changes, part, all, isUndone: all - part.part < part.part }
}

/** The votes and changes that `tallyVoters` reads. */
export async function countTallied(view: View, then: Omit<Then, 'part'>): Promise<number> {
  const reach = await readVoterReach(view, then)
  if (reach === undefined) return 0
  const { part, all, isUndone } = reach
  const voters = isUndone ? ((await view.get(producers, then.producer))?.voter_count ?? 0) : 0
  return voters + CHANGES_OF_PART * (isUndone ? all - part.part : part.part + 1)
}

/** The voters as part of other work; `part` is called after each part. */
export async function tallyVoters(view: View, { producer, height, part: done }: Then): Promise<readonly Ranked[]> {
  const reach = await readVoterReach(view, { producer, height })
  if (reach === undefined) return []
  const { changes, part, all, isUndone } = reach
  const tally: Tally = new Map()
  if (isUndone)
    for await (const docs of orderInRuns(view, { index: votes, order: 'voters', group: producer })) {
      for (const doc of docs) tally.set(doc.voter, doc.votes)
      await done(docs.length)
    }
  for await (const parts of partsInRuns(changes, isUndone ? [part.part, all - 1] : [0, part.part])) {
    for (const each of parts) count(tally, each, { height, isUndone })
    await done(CHANGES_OF_PART * parts.length)
  }
  return rankFigures(tally)
}

/** Adds the changes of a part up to a height, or subtracts those after it. */
function count(
  tally: Tally,
  { entries, height: base }: SeriesDoc,
  { height, isUndone }: { readonly height: number; readonly isUndone: boolean },
): void {
  for (const entry of parseEntries(entries, base)) {
    if (entry.height > height !== isUndone) continue
    const [voter = ''] = entry.more
    tally.set(voter, (tally.get(voter) ?? 0n) + (isUndone ? -entry.change : entry.change))
  }
}

/** The members with a figure above zero: largest first, then by name. */
export const rankFigures = (figures: Iterable<Ranked>): readonly Ranked[] =>
  [...figures]
    .filter(([, units]) => units > 0n)
    .sort(([a, many], [b, other]) => (many === other ? (a < b ? -1 : 1) : many > other ? -1 : 1))
