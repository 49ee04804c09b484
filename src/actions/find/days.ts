import { formatDate, startOfDay, toDay } from '#chain/time.ts'
import { type DayDoc, days, EMPTY_DAY } from '#indices/day.ts'
import { lists } from '#indices/list.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { missingData } from '#store/failures.ts'
import type { Moment, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { createDateCheck, DAYS_DEFAULT, type Dates, type RowRange, type Step } from '../request/range.ts'
import { badRequest } from '../request/refusals.ts'
import { readBlock, readOrdinalTimes } from './blocks-at.ts'
import { refuseBeyondLoaded, refuseWhileLoading } from './loading.ts'
import { ORIGIN } from './numbered.ts'
import { countPassing } from './ordinal-search.ts'
import { findMoments, searchDayEnds } from './point.ts'

/** A UTC day since 1970 and its figures. A day without blocks has no document, so its figures are computed. */
export type Day = { readonly day: number; readonly doc: DayDoc }

/** Number of days that are read before blocks are searched: in nearly every chain one of them has blocks. */
const BACK = 7

/** UTC day since 1970 of the first block. */
export const genesisDay = async (view: View): Promise<number> =>
  toDay(BigInt((await view.get(statistics, STATISTICS))?.genesis_time ?? view.at.time))

/** Figures of each day. `genesis`, not after `from`, is the day of the first block; `today` that of the last. */
export async function readDays(
  view: View,
  { from, to, genesis, today }: Readonly<Record<'from' | 'to' | 'genesis' | 'today', number>>,
): Promise<readonly Day[]> {
  if (from > to) return []
  const docs = await readDayDocs(view, from, to)
  const before = async (): Promise<DayDoc> =>
    to < today
      ? readPreviousDay(view, from, genesis)
      : readBlockDayDoc(view, view.at.height - docs.reduce((sum, doc) => sum + (doc?.blocks ?? 0), 0))
  let last = docs[0] ?? (await before())
  return docs.map((stored, at) => {
    const day = from + at
    const doc: DayDoc = stored ?? { ...last, ...EMPTY_DAY, id: formatDate(day) }
    last = doc
    return { day, doc }
  })
}

/** Height of the last block before `from`, then of the last block by the end of each day up to `to`; -1: none. */
export async function sumDayEnds(
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
  return readBlockDayDoc(view, last)
}

async function readBlockDayDoc(view: View, height: number): Promise<DayDoc> {
  const day = toDay((await readBlock(view, height)).time)
  const [doc] = await readDayDocs(view, day, day)
  if (doc === undefined) throw missingData(`The day of block ${height}, ${formatDate(day)}, is not stored.`)
  return doc
}

/** The last block before `day`, by a search over all blocks: a chain may have paused for years. */
async function findPreviousBlock(view: View, day: number, genesis: number): Promise<number | undefined> {
  const look = async (ordinals: readonly number[]): Promise<readonly number[]> =>
    (await readOrdinalTimes(view, ordinals)).map(toDay)
  const rows = { count: view.at.height + 1, floor: genesis, ceiling: toDay(view.at.time), look }
  const [count = 0] = await countPassing(rows, [made => made < day])
  return count === 0 ? undefined : count - 1
}

const readDayDocs = (view: View, from: number, to: number): Promise<readonly (DayDoc | undefined)[]> =>
  view.getMany(
    days,
    Array.from({ length: to - from + 1 }, (_, at) => formatDate(from + at)),
  )

/** UTC days since 1970 that an answer covers: `from` … `to`, none if `to` is before `from`. */
export type RequestedDays = {
  readonly from: number
  readonly to: number
  readonly genesis: number
  /** The day of the published block, which is still in progress. */
  readonly today: number
}

/**
 * The days of a call, limited to those of the chain. `check` refuses a range that is reversed or too long.
 * Throws 'loading' for a range that may extend beyond the loaded blocks.
 */
export async function requestedDays(
  context: Context,
  { start_date, end_date }: Dates,
  check: (dates: Dates) => void,
): Promise<RequestedDays> {
  const { view } = context
  const today = toDay(view.at.time)
  const last = Math.max(start_date ?? 0, end_date ?? 0)
  if (last >= today) {
    const date = formatDate(last)
    refuseWhileLoading(context, { en: `The whole range up to ${date}`, zh: `截至 ${date} 的完整区间` })
  }
  // Days that have not come are an empty range, and a refusal names no end that nobody gave.
  check({ start_date, end_date: end_date ?? Math.max(start_date ?? today, today) })
  const to = Math.min(end_date ?? today, today)
  // Without a start, a range whose end is in the future covers the newest days.
  const start = start_date ?? to - DAYS_DEFAULT + 1
  const genesis = await genesisDay(view)
  return { from: Math.max(start, genesis), to, genesis, today }
}

const MAX_STEPS = 400

/** The first and the last day of a step, in days since 1970. */
type Days = { readonly first: number; readonly last: number }

const DAY_MS = 86_400_000

/** The whole steps that include a day of `from` … `to`. Throws 'bad_request' when there are too many. */
function listSteps(step: Step, from: number, to: number): readonly Days[] {
  const steps: Days[] = []
  for (let day = from; day <= to; ) {
    const days = findStep(step, day)
    if (steps.push(days) > MAX_STEPS) throw tooMany(step, formatDate(from), formatDate(to))
    day = days.last + 1
  }
  return steps
}

function findStep(step: Step, day: number): Days {
  if (step === 'day') return { first: day, last: day }
  if (step === 'week') {
    // Day 0 was a Thursday.
    const first = day - ((day + 3) % 7)
    return { first, last: first + 6 }
  }
  const date = new Date(day * DAY_MS)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { first: Date.UTC(year, month, 1) / DAY_MS, last: Date.UTC(year, month + 1, 1) / DAY_MS - 1 }
}

const tooMany = (step: Step, from: string, to: string) =>
  badRequest(
    {
      en: `The range from ${from} to ${to} has more than ${MAX_STEPS} rows with 'step' ${step}; ask for a shorter range or a longer step.`,
      zh: `${from} 至 ${to} 按 'step' ${step} 超过 ${MAX_STEPS} 行；请缩短区间或使用更长的周期。`,
    },
    { parameter: 'step' },
  )

/** Range of blocks or times that limits a history by steps, in addition to its days. */
type Blocks = Pick<RowRange, 'start_block' | 'end_block' | 'start_time' | 'end_time'>

/** The requested part of a step: blocks after `before` (-1: from the first block) up to `until`. */
type RequestedStep = Days & {
  readonly before: number
  readonly until: number
  /** The step is complete, and requested from its first to its last block. */
  readonly isWhole: boolean
}

type StepRequest = Dates & Blocks & { readonly step: Step }

/** Throws 'bad_request' for more days than 400 months have; the number of steps is checked separately. */
export const checkStepDates = createDateCheck(400 * 31)

/** The heights that bound the steps: the last block before the first step, and the last block of each; -1: none. */
export const listStepHeights = (steps: readonly RequestedStep[]): readonly number[] => [
  steps[0]?.before ?? -1,
  ...steps.map(({ until }) => until),
]

/**
 * The steps that include a requested day. Each is whole unless the range of blocks or times begins or ends
 * within it. Throws 'loading' for a range that may extend beyond the loaded blocks, 'bad_request' like
 * `checkStepDates` and `listSteps`.
 */
export async function requestedSteps(
  context: Context,
  { step, start_date, end_date, ...asked }: StepRequest,
): Promise<readonly RequestedStep[]> {
  const { view } = context
  const { before, until } = await readStepBounds(context, asked)
  if (before >= until) return []
  const { start, end } = {
    start:
      (asked.start_block ?? asked.start_time) === undefined
        ? start_date
        : Math.max(await readBlockDay(view, before + 1), start_date ?? 0),
    end: until === view.at.height ? end_date : Math.min(await readBlockDay(view, until), end_date ?? Infinity),
  }
  if (start !== undefined && end !== undefined && start > end) return []
  const days = await requestedDays(context, { start_date: start, end_date: end }, checkStepDates)
  const { today } = days
  // Steps are whole: one that includes a requested day before the first block or after today may include a day
  // of the chain, too.
  const from = start === undefined ? days.from : Math.max(findStep(step, start).first, days.genesis)
  const to = end === undefined ? days.to : Math.min(findStep(step, end).last, today)
  const steps = listSteps(step, from, to)
  const heights = await searchDayEnds(context, [steps[0]?.first ?? from, ...steps.map(({ last }) => last + 1)])
  const within = (height: number): number => Math.min(Math.max(height, before), until)
  return steps.map((each, at) => {
    const [begin = -1, over = -1] = [heights[at], heights[at + 1]]
    const isCut = within(begin) !== begin || within(over) !== over
    return { ...each, before: within(begin), until: within(over), isWhole: each.last < today && !isCut }
  })
}

/** The block before the first requested one, and the last requested one. */
async function readStepBounds(
  context: Context,
  asked: Blocks,
): Promise<{ readonly before: number; readonly until: number }> {
  const { view } = context
  const { height } = view.at
  const { start_block, end_block, start_time, end_time } = asked
  refuseBeyondLoaded(context, asked, 0)
  const given = [start_time === undefined ? undefined : start_time - 1n, end_time].flatMap(each => each ?? [])
  const heights = (given.length === 0 ? [] : await findMoments(view, given)).map(each => each?.height ?? -1)
  const early = start_time === undefined ? -1 : (heights[0] ?? -1)
  const late = end_time === undefined ? height : (heights.at(-1) ?? -1)
  return {
    before: Math.max(early, Number(start_block ?? 0n) - 1),
    until: Math.min(late, Number(end_block ?? height)),
  }
}

const readBlockDay = async (view: View, height: number): Promise<number> => toDay((await readBlock(view, height)).time)

/** Maximum number of days in one answer, some three months: the search in the list has one bound per day. */
export const MAX_DAYS = 92

type RecordsOfDay = { readonly date: string; readonly complete: boolean; readonly records: number }

/** Number of a list's rows on each requested day, from a search for the bounds of the days. */
export async function countRecordsByDay(
  view: View,
  /** The key of the list (`listOf`). */
  id: string,
  { from, to, today }: Pick<RequestedDays, 'from' | 'to' | 'today'>,
): Promise<readonly RecordsOfDay[]> {
  if (from > to) return []
  const list = await view.get(lists, id)
  const days = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const rowOf = (day: number, records: number) => ({ date: formatDate(day), complete: day < today, records })
  if (list === undefined) return days.map(day => rowOf(day, 0))
  const rows = {
    count: list.count,
    floor: ORIGIN,
    ceiling: view.at,
    look: (ordinals: readonly number[]) => view.moments(list, ordinals),
  }
  const before = await countPassing<Moment>(
    rows,
    [...days, to + 1].map(startOfDay).map(start => made => made.time < start),
  )
  return days.map((day, at) => rowOf(day, (before[at + 1] ?? 0) - (before[at] ?? 0)))
}
