import { formatDate, startOfDay, toDay } from '#chain/time.ts'
import { type DayDoc, days, EMPTY_DAY } from '#indices/day.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import { countPassing } from '../list/ordinal-search.ts'
import { readBlock, readBlocks } from './blocks-at.ts'
import { findMoments } from './point.ts'

/** A UTC day since 1970 and its figures. A day without blocks has no document, so its figures are computed. */
export type Day = { readonly day: number; readonly doc: DayDoc }

/** Number of days that are read before blocks are searched: in nearly every chain one of them has blocks. */
const BACK = 7

/** UTC day since 1970 of the first block. */
export const genesisDay = async (view: View): Promise<number> =>
  toDay(BigInt((await view.get(statistics, STATISTICS))?.genesis_time ?? view.at.time))

/**
 * Figures of each day from `from` to `to`. `genesis`, not after `from`, is the day of the first block;
 * `today` is the day of the last.
 */
export async function readDays(
  view: View,
  { from, to, genesis, today }: Readonly<Record<'from' | 'to' | 'genesis' | 'today', number>>,
): Promise<readonly Day[]> {
  if (from > to) return []
  const docs = await readDayDocs(view, from, to)
  const before = async (): Promise<DayDoc> =>
    to < today
      ? readPreviousDay(view, from, genesis)
      : dayOfBlock(view, view.at.height - docs.reduce((sum, doc) => sum + (doc?.blocks ?? 0), 0))
  let last = docs[0] ?? (await before())
  return docs.map((stored, at) => {
    const day = from + at
    const doc: DayDoc = stored ?? { ...last, ...EMPTY_DAY, id: formatDate(day) }
    last = doc
    return { day, doc }
  })
}

/**
 * Height of the last block before the day `from`, then of the last block by the end of each day up to `to`;
 * -1: there is none.
 */
export async function endsOfDays(
  view: View,
  { from, to, today }: Readonly<Record<'from' | 'to' | 'today', number>>,
): Promise<readonly number[]> {
  if (from > to) return []
  const [docs, last] = await Promise.all([
    readDayDocs(view, from, to),
    to < today ? findMoments(view, [startOfDay(to + 1) - 1n]) : [view.at],
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
async function readPreviousDay(view: View, day: number, genesis: number): Promise<DayDoc> {
  const near = await readDayDocs(view, Math.max(genesis, day - BACK), day - 1)
  const found = near.findLast(doc => doc !== undefined)
  if (found !== undefined) return found
  const last = await findPreviousBlock(view, day, genesis)
  if (last === undefined) throw missingData(`There is no day with blocks before ${formatDate(day)}.`)
  return dayOfBlock(view, last)
}

/** Figures of the day of a block. */
async function dayOfBlock(view: View, height: number): Promise<DayDoc> {
  const day = toDay((await readBlock(view, height)).time)
  const [doc] = await readDayDocs(view, day, day)
  if (doc === undefined) throw missingData(`The day of block ${height}, ${formatDate(day)}, is not stored.`)
  return doc
}

/** The last block before `day`, by a search over all blocks: a chain may have paused for years. */
async function findPreviousBlock(view: View, day: number, genesis: number): Promise<number | undefined> {
  const look = async (ordinals: readonly number[]): Promise<readonly number[]> => {
    const heights = ordinals.map(ordinal => ordinal - 1)
    const made = await readBlocks(view, heights)
    return made.map(({ time }) => toDay(time))
  }
  const rows = { count: view.at.height + 1, floor: genesis, ceiling: toDay(view.at.time), look }
  const [count = 0] = await countPassing(rows, [made => made < day])
  return count === 0 ? undefined : count - 1
}

const readDayDocs = (view: View, from: number, to: number): Promise<readonly (DayDoc | undefined)[]> =>
  view.getMany(
    days,
    Array.from({ length: to - from + 1 }, (_, at) => formatDate(from + at)),
  )
