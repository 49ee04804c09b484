import { fullPart, type SeriesDoc, series, seriesOf } from '#indices/series.ts'
import { type Entry, entriesIn } from '#indices/series-entry.ts'
import { numberIn } from '#indices/series-number.ts'
import { type Held, heldAfter, heldAt, type Votes, votesAfter, votesAt } from '#indices/series-replay.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import { countPassing } from '../list/ordinal-search.ts'

/** A series as one answer reads it; parts that were read stay in memory until it is given. */
export type Series = {
  /** Changes in all. */
  readonly count: number
  readonly partCount: number
  /** The parts that have the last change of which a test says yes; the tests all say no from some change on. */
  lastParts(tests: readonly ((part: SeriesDoc) => boolean)[]): Promise<readonly (SeriesDoc | undefined)[]>
  /** Parts `first` … `last` by their numbers. */
  parts(numbers: readonly number[]): Promise<readonly SeriesDoc[]>
}

/** A series; undefined: nothing ever changed. */
export const seriesIn = async (view: View, key: string): Promise<Series | undefined> => {
  const newest = await view.get(series, key)
  return newest === undefined ? undefined : seriesWith(view, key, newest)
}

const seriesWith = (view: View, key: string, newest: SeriesDoc): Series => {
  const known = new Map([[newest.part, newest]])
  const parts = async (numbers: readonly number[]): Promise<readonly SeriesDoc[]> => {
    const unknown = [...new Set(numbers)].filter(number => !known.has(number))
    const docs =
      unknown.length === 0
        ? []
        : await view.getMany(
            series,
            unknown.map(number => fullPart(key, number)),
          )
    for (const doc of docs) if (doc !== undefined) known.set(doc.part, doc)
    return numbers.map(number => {
      const doc = known.get(number)
      if (doc === undefined) throw missingData(`Part ${number} of series '${key}' is not stored.`)
      return doc
    })
  }
  const look = (ordinals: readonly number[]) => parts(ordinals.map(ordinal => ordinal - 1))
  return {
    count: newest.first + newest.count - 1,
    partCount: newest.part + 1,
    parts,
    lastParts: async tests => {
      const counts = tests.every(test => test(newest))
        ? tests.map(() => newest.part + 1)
        : await countPassing({ count: newest.part + 1, floor: FLOOR, ceiling: newest, look }, tests)
      const found = await parts([...new Set(counts)].filter(count => count > 0).map(count => count - 1))
      return counts.map(count => found.find(({ part }) => part === count - 1))
    },
  }
}

/** Before every series: no test that a first part can pass fails for it. */
const FLOOR: SeriesDoc = {
  id: '',
  part: -1,
  first: 0,
  count: 0,
  height: -1,
  opening: [],
  gained: '0',
  lost: '0',
  gains: 0,
  losses: 0,
  entries: '',
}

/** Changes of a part up to a height, with how many each entry stands for by then. */
const changesUntil = (part: SeriesDoc, height: number): readonly (Entry & { readonly until: number })[] =>
  entriesIn(part.entries, part.height).flatMap(entry =>
    entry.height > height ? [] : [{ ...entry, until: Math.min(entry.times, height - entry.height + 1) }],
  )

/** The parts of a series from the one that has the first of some changes to that of the last one, by their numbers. */
export const partsAt = async (
  series: Series,
  ordinals: readonly [number, number],
): Promise<readonly SeriesDoc[]> => {
  const [from, to] = await series.lastParts(ordinals.map(ordinal => part => part.first <= ordinal))
  if (from === undefined || to === undefined) return []
  return series.parts(Array.from({ length: to.part - from.part + 1 }, (_, at) => from.part + at))
}

/** Whether a part begins at a height or before. */
export const isBy =
  (height: number) =>
  (part: SeriesDoc): boolean =>
    part.height <= height

/** Parts that are read at once. */
const AT_ONCE = 200

/** Parts `first` … `last` of a series, in order and in runs that fit in memory. */
export const partsInRuns = async function* (
  series: Series,
  [first, last]: readonly [number, number],
): AsyncGenerator<readonly SeriesDoc[], void, void> {
  for (let from = first; from <= last; from += AT_ONCE)
    yield await series.parts(Array.from({ length: Math.min(AT_ONCE, last - from + 1) }, (_, at) => from + at))
}

/** What an owner had of a token after a block, by the id of the balance. */
export const heldThen = async (view: View, id: string, height: number): Promise<Held> => {
  const [held = heldAt([])] = await heldThenAll(view, [id], height)
  return held
}

/** The same of several, their newest parts read together. */
export const heldThenAll = async (
  view: View,
  ids: readonly string[],
  height: number,
): Promise<readonly Held[]> => {
  const parts = await partsThen(view, ids.map(seriesOf.balance), height)
  return parts.map(part => {
    if (part === undefined) return heldAt([])
    const first = heldAt(part.opening)
    return changesUntil(part, height).reduce((held, entry) => heldAfter(held, entry, entry.until), first)
  })
}

/** For each of some series the part that has its last change until a block, the newest ones read together. */
const partsThen = async (
  view: View,
  keys: readonly string[],
  height: number,
): Promise<readonly (SeriesDoc | undefined)[]> => {
  const newest = await view.getMany(series, keys)
  return Promise.all(
    keys.map(async (key, at) => {
      const doc = newest[at]
      if (doc === undefined) return undefined
      const [part] = await seriesWith(view, key, doc).lastParts([isBy(height)])
      return part
    }),
  )
}

/** Votes of a voter after a block, by producer. `key`: of the series. */
export const votesThen = async (view: View, key: string, height: number): Promise<Votes> => {
  const [votes = NO_VOTES] = await votesThenAll(view, [key], height)
  return votes
}

const NO_VOTES: Votes = new Map()

/** The same of several series whose changes name what they are of. */
export const votesThenAll = async (
  view: View,
  keys: readonly string[],
  height: number,
): Promise<readonly Votes[]> => {
  const parts = await partsThen(view, keys, height)
  return parts.map(part =>
    part === undefined ? NO_VOTES : changesUntil(part, height).reduce(votesAfter, votesAt(part.opening)),
  )
}

/** What there is after a block by series whose opening is a sum: supplies, holders, pledges, coefficients. */
export const sumsThen = async (
  view: View,
  keys: readonly string[],
  height: number,
): Promise<readonly bigint[]> => {
  const parts = await partsThen(view, keys, height)
  return parts.map(part => {
    if (part === undefined) return 0n
    const first = numberIn(part.opening[0] ?? '0')
    return changesUntil(part, height).reduce((sum, { change, until }) => sum + change * BigInt(until), first)
  })
}

/** What was gained and lost until a block, and by how many changes. */
export type Flows = {
  readonly gained: bigint
  readonly lost: bigint
  readonly gains: number
  readonly losses: number
}

/** The flows of a series without changes. */
export const NO_FLOWS: Flows = { gained: 0n, lost: 0n, gains: 0, losses: 0 }

/** For each of some heights what a series gained and lost until then; -1: before the chain. */
export const flowsThen = async (
  view: View,
  key: string,
  heights: readonly number[],
): Promise<readonly Flows[]> => {
  const parts = (await (await seriesIn(view, key))?.lastParts(heights.map(isBy))) ?? []
  const entries = new Map<SeriesDoc, readonly Entry[]>()
  let last: { readonly height: number; readonly flows: Flows } | undefined
  return heights.map((height, at) => {
    const part = parts[at]
    if (part === undefined) return NO_FLOWS
    // Many steps may be without a block, or have their ends in one part.
    if (last?.height === height) return last.flows
    const changes = entries.get(part) ?? entriesIn(part.entries, part.height)
    entries.set(part, changes)
    const flows = flowsIn(part, changes, height)
    last = { height, flows }
    return flows
  })
}

/** A part says what there is behind its last change, so the changes after the height are taken from it. */
const flowsIn = (part: SeriesDoc, changes: readonly Entry[], height: number): Flows => {
  let [gained, lost] = [numberIn(part.gained), numberIn(part.lost)]
  let { gains, losses } = part
  for (const entry of changes) {
    // An amount that came due was there before, frozen, so neither sum has it.
    if (entry.cause.kind === 'due') continue
    const later = Math.min(entry.times, Math.max(0, entry.height + entry.times - 1 - height))
    const all = entry.change * BigInt(later)
    if (entry.change > 0n) {
      gained -= all
      gains -= later
    } else {
      lost += all
      losses -= later
    }
  }
  return { gained, lost, gains, losses }
}
