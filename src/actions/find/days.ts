import { dateOf, dayOf, startOfDay } from '#chain/time.ts'
import { type DayDoc, days, EMPTY_DAY } from '#indices/day.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import { countPassing } from '../list/ordinal-search.ts'
import { blockAt, blocksAt } from './blocks-at.ts'
import { momentsAt } from './point.ts'

/** A UTC day since 1970 and its figures. A day without blocks has no document, so its figures are computed. */
export type Day = { readonly day: number; readonly doc: DayDoc }

/** Number of days that are read before blocks are searched: in nearly every chain one of them has blocks. */
const BACK = 7

/** UTC day since 1970 of the first block. */
export const genesisDay = async (view: View): Promise<number> =>
  dayOf(BigInt((await view.get(statistics, STATISTICS))?.genesis_time ?? view.at.time))

/**
 * Figures of each day from `from` to `to`. `genesis`, not after `from`, is the day of the first block;
 * `today` is the day of the last.
 */
export const daysBetween = async (
  view: View,
  { from, to, genesis, today }: Readonly<Record<'from' | 'to' | 'genesis' | 'today', number>>,
): Promise<readonly Day[]> => {
  if (from > to) return []
  const docs = await docsOf(view, from, to)
  const before = async (): Promise<DayDoc> =>
    to < today
      ? lastBefore(view, from, genesis)
      : dayOfBlock(view, view.at.height - docs.reduce((sum, doc) => sum + (doc?.blocks ?? 0), 0))
  let last = docs[0] ?? (await before())
  return docs.map((stored, at) => {
    const day = from + at
    const doc: DayDoc = stored ?? { ...last, ...EMPTY_DAY, id: dateOf(day) }
    last = doc
    return { day, doc }
  })
}

/**
 * Height of the last block before the day `from`, then of the last block by the end of each day up to `to`;
 * -1: there is none.
 */
export const endsOfDays = async (
  view: View,
  { from, to, today }: Readonly<Record<'from' | 'to' | 'today', number>>,
): Promise<readonly number[]> => {
  if (from > to) return []
  const [docs, last] = await Promise.all([
    docsOf(view, from, to),
    to < today ? momentsAt(view, [startOfDay(to + 1) - 1n]) : [view.at],
  ])
  let height = last[0]?.height ?? -1
  const ends = [height]
  for (const doc of docs.toReversed()) {
    height -= doc?.blocks ?? 0
    ends.push(height)
  }
  return ends.toReversed()
}

/** The last day with blocks before `day`. */
const lastBefore = async (view: View, day: number, genesis: number): Promise<DayDoc> => {
  const near = await docsOf(view, Math.max(genesis, day - BACK), day - 1)
  const found = near.findLast(doc => doc !== undefined)
  if (found !== undefined) return found
  const last = await lastBlockBefore(view, day, genesis)
  if (last === undefined) throw missingData(`There is no day with blocks before ${dateOf(day)}.`)
  return dayOfBlock(view, last)
}

/** Figures of the day of a block. */
const dayOfBlock = async (view: View, height: number): Promise<DayDoc> => {
  const day = dayOf((await blockAt(view, height)).time)
  const [doc] = await docsOf(view, day, day)
  if (doc === undefined) throw missingData(`The day of block ${height}, ${dateOf(day)}, is not stored.`)
  return doc
}

/** The last block before `day`, by a search over all blocks: a chain may have paused for years. */
const lastBlockBefore = async (view: View, day: number, genesis: number): Promise<number | undefined> => {
  const look = async (ordinals: readonly number[]): Promise<readonly number[]> => {
    const heights = ordinals.map(ordinal => ordinal - 1)
    const made = await blocksAt(view, heights)
    return made.map(({ time }) => dayOf(time))
  }
  const rows = { count: view.at.height + 1, floor: genesis, ceiling: dayOf(view.at.time), look }
  const [count = 0] = await countPassing(rows, [made => made < day])
  return count === 0 ? undefined : count - 1
}

const docsOf = (view: View, from: number, to: number): Promise<readonly (DayDoc | undefined)[]> =>
  view.getMany(
    days,
    Array.from({ length: to - from + 1 }, (_, at) => dateOf(from + at)),
  )
