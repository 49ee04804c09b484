import { formatDate, toDay } from '#chain/time.ts'
import { defineParameter } from './query.ts'
import { RANGE_NAMES, type RowRange } from './range.ts'
import { badRequest } from './refusals.ts'

/** The length of a history's steps: a UTC day, a week from Monday, or a month. */
export type Step = 'day' | 'week' | 'month'

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

/** The range of a history, and the length of its steps if its rows are steps. */
export type RangeOfSteps = RowRange & { readonly step?: Step | undefined }

/**
 * Throws 'bad_request' for a step together with a range by the numbers of changes, or with columns that show single
 * changes.
 */
export function checkSteps({ step, csv, ...range }: RangeOfSteps & { readonly csv?: string | undefined }): void {
  if (step === undefined) return
  if (csv !== undefined)
    throw badRequest(
      {
        en: `Parameters 'step' and 'csv' cannot be combined: csv=${csv} has a line for each change; leave one of them out.`,
        zh: `参数 'step' 与 'csv' 不能同时使用：csv=${csv} 每笔变动一行；请去掉其中一个。`,
      },
      { parameter: 'csv' },
    )
  const other = RANGE_NAMES.find(name => name.endsWith('_seq') && range[name] !== undefined)
  if (other === undefined) return
  throw badRequest(
    {
      en: `Parameters 'step' and '${other}' cannot be combined; give the range of steps by days, blocks or times.`,
      zh: `参数 'step' 与 '${other}' 不能同时使用；使用 step 时请以日期、区块或时间指定区间。`,
    },
    { parameter: other },
  )
}

/** The blocks and times of a range, and its days in days since 1970. */
export const boundsOfSteps = ({ start_date, end_date, start_block, end_block, start_time, end_time }: RowRange) => ({
  start_date: start_date === undefined ? undefined : toDay(start_date),
  end_date: end_date === undefined ? undefined : toDay(end_date),
  ...(start_block === undefined ? {} : { start_block }),
  ...(end_block === undefined ? {} : { end_block }),
  ...(start_time === undefined ? {} : { start_time }),
  ...(end_time === undefined ? {} : { end_time }),
})
