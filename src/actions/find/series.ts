import { transactionId } from '#indices/list.ts'
import {
  applyHeldEntry,
  applyVoteEntry,
  type Entry,
  fullPart,
  type Held,
  parseEntries,
  parseHeld,
  parsePackedNumber,
  parseVotes,
  type SeriesDoc,
  series,
  seriesOf,
  type Votes,
} from '#indices/series.ts'
import { missingData } from '#store/failures.ts'
import type { Moment, View } from '#store/port.ts'
import { readBlockTimes } from './blocks-at.ts'
import type { Numbered, OrdinalList } from './listing.ts'
import { countPassing } from './ordinal-search.ts'

/** A series as read by one answer. Parts that were read stay in memory until the answer is complete. */
type Series = {
  readonly count: number
  readonly partCount: number
  /** For each test, the last part that passes; a test passes for all parts up to some part and fails for later ones. */
  lastParts(tests: readonly ((part: SeriesDoc) => boolean)[]): Promise<readonly (SeriesDoc | undefined)[]>
  parts(numbers: readonly number[]): Promise<readonly SeriesDoc[]>
}

/** A series; undefined: it has no changes. */
export async function findSeries(view: View, key: string): Promise<Series | undefined> {
  const newest = await view.get(series, key)
  return newest === undefined ? undefined : createSeries(view, key, newest)
}

function createSeries(view: View, key: string, newest: SeriesDoc): Series {
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

/** A part before every series, which passes every test that a first part can pass. */
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

/** Changes of a part up to a height. `until`: the number of changes that an entry represents up to there. */
const listChangesUntilHeight = (part: SeriesDoc, height: number): readonly (Entry & { readonly until: number })[] =>
  parseEntries(part.entries, part.height).flatMap(entry =>
    entry.height > height ? [] : [{ ...entry, until: Math.min(entry.times, height - entry.height + 1) }],
  )

/** The parts of a series from the one with the first of two changes to the one with the second. */
async function readSeriesParts(series: Series, ordinals: readonly [number, number]): Promise<readonly SeriesDoc[]> {
  const [from, to] = await series.lastParts(ordinals.map(ordinal => part => part.first <= ordinal))
  if (from === undefined || to === undefined) return []
  return series.parts(Array.from({ length: to.part - from.part + 1 }, (_, at) => from.part + at))
}

/** Whether a part begins at a height or below. */
export const createHeightTest =
  (height: number) =>
  (part: SeriesDoc): boolean =>
    part.height <= height

/** The usual number of changes of a part, by which rows of a series are counted. */
export const CHANGES_OF_PART = 30

/** Number of parts read at once. */
const AT_ONCE = 200

/** Parts `first` … `last` of a series, in order and in chunks that fit in memory. */
export const readPartRuns = async function* (
  series: Series,
  [first, last]: readonly [number, number],
): AsyncGenerator<readonly SeriesDoc[], void, void> {
  for (let from = first; from <= last; from += AT_ONCE)
    yield await series.parts(Array.from({ length: Math.min(AT_ONCE, last - from + 1) }, (_, at) => from + at))
}

/** An owner's amounts of a token after a block, by the id of the balance. */
export async function readHeld(view: View, id: string, height: number): Promise<Held> {
  const [held = parseHeld([])] = await readHeldOfAll(view, [id], height)
  return held
}

/** An owner's amounts for several balances; their newest parts are read together. */
export async function readHeldOfAll(view: View, ids: readonly string[], height: number): Promise<readonly Held[]> {
  const parts = await findPastParts(view, ids.map(seriesOf.balance), height)
  return parts.map(part => {
    if (part === undefined) return parseHeld([])
    const first = parseHeld(part.opening)
    return listChangesUntilHeight(part, height).reduce((held, entry) => applyHeldEntry(held, entry, entry.until), first)
  })
}

/** For each series, the part with its last change up to a block; the newest parts are read together. */
async function findPastParts(
  view: View,
  keys: readonly string[],
  height: number,
): Promise<readonly (SeriesDoc | undefined)[]> {
  const newest = await view.getMany(series, keys)
  return Promise.all(
    keys.map(async (key, at) => {
      const doc = newest[at]
      if (doc === undefined) return undefined
      const [part] = await createSeries(view, key, doc).lastParts([createHeightTest(height)])
      return part
    }),
  )
}

/** Votes of a voter after a block, by producer. `key`: of the series. */
export async function readVotes(view: View, key: string, height: number): Promise<Votes> {
  const [votes = NO_VOTES] = await readVotesOfAll(view, [key], height)
  return votes
}

const NO_VOTES: Votes = new Map()

/** Values by name after a block, for several series whose changes have names. */
export async function readVotesOfAll(view: View, keys: readonly string[], height: number): Promise<readonly Votes[]> {
  const parts = await findPastParts(view, keys, height)
  return parts.map(part =>
    part === undefined
      ? NO_VOTES
      : listChangesUntilHeight(part, height).reduce(applyVoteEntry, parseVotes(part.opening)),
  )
}

/** Values by name after each of several blocks, for one series whose changes have names; -1: before the chain. */
export async function readVotesSeries(view: View, key: string, heights: readonly number[]): Promise<readonly Votes[]> {
  const parts = (await (await findSeries(view, key))?.lastParts(heights.map(createHeightTest))) ?? []
  return heights.map((height, at) => {
    const part = parts[at]
    return part === undefined
      ? NO_VOTES
      : listChangesUntilHeight(part, height).reduce(applyVoteEntry, parseVotes(part.opening))
  })
}

/** Sums after a block, for series whose opening is a sum: supplies, holders, pledges, coefficients. */
export async function readSums(view: View, keys: readonly string[], height: number): Promise<readonly bigint[]> {
  const parts = await findPastParts(view, keys, height)
  return parts.map(part => {
    if (part === undefined) return 0n
    const first = parsePackedNumber(part.opening[0] ?? '0')
    return listChangesUntilHeight(part, height).reduce((sum, { change, until }) => sum + change * BigInt(until), first)
  })
}

/** Sums and numbers of the positive and negative changes up to a block. */
type Flows = {
  readonly gained: bigint
  readonly lost: bigint
  readonly gains: number
  readonly losses: number
}

export const NO_FLOWS: Flows = { gained: 0n, lost: 0n, gains: 0, losses: 0 }

/** For each height the flows of a series up to it; -1: before the chain. */
export async function readFlows(view: View, key: string, heights: readonly number[]): Promise<readonly Flows[]> {
  const parts = (await (await findSeries(view, key))?.lastParts(heights.map(createHeightTest))) ?? []
  const entries = new Map<SeriesDoc, readonly Entry[]>()
  let last: { readonly height: number; readonly flows: Flows } | undefined
  return heights.map((height, at) => {
    const part = parts[at]
    if (part === undefined) return NO_FLOWS
    // Many steps may have no block, or have their ends in one part.
    if (last?.height === height) return last.flows
    const changes = entries.get(part) ?? parseEntries(part.entries, part.height)
    entries.set(part, changes)
    const flows = computeFlows(part, changes, height)
    last = { height, flows }
    return flows
  })
}

/** A part has the totals after its last change, so the changes above the height are subtracted. */
function computeFlows(part: SeriesDoc, changes: readonly Entry[], height: number): Flows {
  let [gained, lost] = [parsePackedNumber(part.gained), parsePackedNumber(part.lost)]
  let { gains, losses } = part
  for (const entry of changes) {
    // An amount that became due was counted before, when it was frozen, so neither sum includes it. Nor does either
    // include an amount that its owner froze for itself.
    if (entry.cause.kind === 'due' || entry.change === 0n) continue
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

/** One change of a series: number `at` of a part, from 0. Its `entry` represents this change only. */
export type SeriesChange = { readonly entry: Entry; readonly part: SeriesDoc; readonly at: number }

/** The changes of a series as a list, numbered from 1 in chain order. */
export const openChangeList = async (view: View, key: string): Promise<OrdinalList<SeriesChange>> => ({
  count: (await findSeries(view, key))?.count ?? 0,
  followed: { kind: 'series', key },
  idOf: ({ entry }) => transactionId(entry.height, entry.tx),
  moments: (reading, ordinals) => readChangeMoments(reading, key, ordinals),
  docs: (reading, first, last) => readChangeRange(reading, key, { first, last }),
})

/** Changes `first` … `last` of a series, by their numbers. Throws 'damaged' if one is missing. */
async function readChangeRange(view: View, key: string, { first, last }: Numbers): Promise<readonly SeriesChange[]> {
  if (last < first) return []
  const series = await findSeries(view, key)
  const changes =
    series === undefined
      ? []
      : (await readSeriesParts(series, [first, last])).flatMap(part => expandChanges(part, { first, last }))
  if (changes.length !== last - first + 1) throw missingData(`Series '${key}' lacks a change of ${first} to ${last}.`)
  return changes
}

type Numbers = { readonly first: number; readonly last: number }

/** An entry may represent thousands of changes; only those in the range are created. */
function expandChanges(part: SeriesDoc, { first, last }: Numbers): readonly SeriesChange[] {
  const changes: SeriesChange[] = []
  let number = part.first
  for (const entry of parseEntries(part.entries, part.height)) {
    const end = Math.min(number + entry.times - 1, last)
    for (let each = Math.max(number, first); each <= end; each++)
      changes.push({
        entry: { ...entry, height: entry.height + each - number, times: 1 },
        part,
        at: each - part.first,
      })
    number += entry.times
  }
  return changes
}

/** The changes of a series from a number on, in the form of a feed's rows. */
export async function readNewChanges(
  view: View,
  key: string,
  next: number,
): Promise<readonly Numbered<SeriesChange>[]> {
  const count = (await findSeries(view, key))?.count ?? 0
  const changes = await readChangeRange(view, key, { first: next, last: count })
  return changes.map((doc, at) => ({ seq: next + at, doc }))
}

async function readChangeMoments(view: View, key: string, ordinals: readonly number[]): Promise<readonly Moment[]> {
  const series = await findSeries(view, key)
  const changes = series === undefined ? [] : await readChanges(series, ordinals)
  const heights = changes.map(({ entry }) => entry.height)
  const times = await readBlockTimes(view, heights)
  return changes.map(({ entry: { height } }) => ({ height, time: times.get(height) as bigint }))
}

async function readChanges(series: Series, ordinals: readonly number[]): Promise<readonly SeriesChange[]> {
  const parts = await series.lastParts(ordinals.map(ordinal => part => part.first <= ordinal))
  return ordinals.flatMap((ordinal, at) => {
    const part = parts[at]
    return part === undefined ? [] : expandChanges(part, { first: ordinal, last: ordinal })
  })
}
