import { formatDate } from '#chain/time.ts'
import { defineParameter } from './parameters.ts'
import { badRequest } from './refusals.ts'

/** The length of a history's steps: a UTC day, a week from Monday, or a month. */
export type Step = 'day' | 'week' | 'month'

/** Maximum number of steps in one answer. */
const MAX_STEPS = 400

export const step = (fallback?: Step) =>
  defineParameter<Step>({
    type: 'string',
    description: {
      en: 'One row for each UTC day, week (from Monday) or month, those without a change included.',
      zh: '按 UTC 日、周（周一开始）或月各返回一行，没有变动的也包括在内。',
    },
    rule: { en: 'day, week or month', zh: 'day、week 或 month' },
    pattern: '^(?:day|week|month)$',
    values: ['day', 'week', 'month'],
    example: 'day',
    ...(fallback === undefined ? {} : { fallback }),
    foreignNames: ['interval', 'period', 'granularity', 'resolution', 'group_by', 'every'],
    read: text => (text === 'week' || text === 'month' ? text : 'day'),
  })

/** The first and the last day of a step, in days since 1970. */
export type Days = { readonly first: number; readonly last: number }

const DAY_MS = 86_400_000

/** The whole steps that include a day of `from` … `to`. Throws 'bad_request' when there are too many. */
export function listSteps(step: Step, from: number, to: number): readonly Days[] {
  const steps: Days[] = []
  for (let day = from; day <= to; ) {
    const days = findStep(step, day)
    if (steps.push(days) > MAX_STEPS) throw tooMany(step, formatDate(from), formatDate(to))
    day = days.last + 1
  }
  return steps
}

/** The step that includes a day. */
export function findStep(step: Step, day: number): Days {
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
