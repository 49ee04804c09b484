import { transactionId } from '#indices/position.ts'
import type { SeriesDoc } from '#indices/series.ts'
import { type Entry, parseEntries } from '#indices/series-entry.ts'
import { missingData } from '#store/missing-data.ts'
import type { Moment, View } from '#store/port.ts'
import { readBlockTimes } from '../find/blocks-at.ts'
import { findSeries, readSeriesParts, type Series } from '../find/series.ts'
import type { Numbered, OrdinalList } from './list-rows.ts'

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

/**
 * The changes of a part with numbers in a range. An entry may represent thousands of changes; only those in
 * the range are created.
 */
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
export async function newChanges(view: View, key: string, next: number): Promise<readonly Numbered<SeriesChange>[]> {
  const count = (await findSeries(view, key))?.count ?? 0
  const changes = await readChangeRange(view, key, { first: next, last: count })
  return changes.map((doc, at) => ({ seq: next + at, doc }))
}

async function readChangeMoments(view: View, key: string, ordinals: readonly number[]): Promise<readonly Moment[]> {
  const series = await findSeries(view, key)
  const changes = series === undefined ? [] : await readChanges(series, ordinals)
  const heights = changes.map(({ entry }) => entry.height)
  const times = await readBlockTimes(view, heights)
  return changes.map(({ entry: { height } }) => ({ height, time: times.get(height) ?? 0n }))
}

/** The changes with the given numbers. */
async function readChanges(series: Series, ordinals: readonly number[]): Promise<readonly SeriesChange[]> {
  const parts = await series.lastParts(ordinals.map(ordinal => part => part.first <= ordinal))
  return ordinals.flatMap((ordinal, at) => {
    const part = parts[at]
    return part === undefined ? [] : expandChanges(part, { first: ordinal, last: ordinal })
  })
}
