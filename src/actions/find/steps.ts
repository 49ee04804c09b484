import { dateOf, startOfDay } from '#chain/time.ts'
import type { Context } from '../define.ts'
import { type Dates, datesWithin } from '../request/dates.ts'
import { type Step, stepsBetween } from '../request/step.ts'
import { daysAsked } from './asked-days.ts'
import { momentsAt } from './point.ts'

/** Days of 400 months: steps are counted by themselves. */
const checkDates = datesWithin(400 * 31)

/** One step of a history. */
export type StepAsked = {
  /** Its first UTC day. */
  readonly date: string
  /** Whether it is over. */
  readonly complete: boolean
}

/** Steps, oldest first, and the last block before each of them and after the last one: one height more; -1: none. */
export type StepsAsked = { readonly steps: readonly StepAsked[]; readonly heights: readonly number[] }

/** The steps that a call asks for, as far as the chain has them. Throws as `daysAsked` and `stepsBetween` do. */
export const stepsAsked = async (context: Context, step: Step, dates: Dates): Promise<StepsAsked> => {
  const { from, to, today } = await daysAsked(context, dates, checkDates)
  const steps = stepsBetween(step, from, to)
  const ends = [startOfDay(steps[0]?.first ?? from), ...steps.map(({ last }) => startOfDay(last + 1))]
  const moments = await momentsAt(
    context.view,
    ends.map(end => end - 1n),
  )
  return {
    steps: steps.map(({ first, last }) => ({ date: dateOf(first), complete: last < today })),
    heights: moments.map(moment => moment?.height ?? -1),
  }
}
