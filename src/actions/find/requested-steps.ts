import { toDay } from '#chain/time.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { createDateCheck, type Dates } from '../request/dates.ts'
import type { RowRange } from '../request/range.ts'
import { type Days, findStep, listSteps, type Step } from '../request/step.ts'
import { readBlock } from './blocks-at.ts'
import { readDayEnds } from './day-ends.ts'
import { refuseBeyondLoaded } from './loading.ts'
import { findMoments } from './point.ts'
import { requestedDays } from './requested-days.ts'

/** Range of blocks or times that limits a history by steps, in addition to its days. */
export type Blocks = Pick<RowRange, 'start_block' | 'end_block' | 'start_time' | 'end_time'>

/** The requested part of a step: blocks after `before` (-1: from the first block) up to `until`. */
export type RequestedStep = Days & {
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
  const heights = await readDayEnds(context, [steps[0]?.first ?? from, ...steps.map(({ last }) => last + 1)])
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
