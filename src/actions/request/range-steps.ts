import { dayOf } from '#chain/time.ts'
import type { Dates } from './dates.ts'
import { RANGE_NAMES, type Range } from './range.ts'
import { badRequest } from './refusals.ts'
import type { Step } from './step.ts'

/** The range of a history, and the length of its rows where they are steps. */
export type RangeOfSteps = Range & { readonly step?: Step | undefined }

/** Throws 'bad_request' for a range by blocks, times or numbers beside a step: steps are whole days. */
export const checkSteps = ({ step, ...range }: RangeOfSteps): void => {
  if (step === undefined) return
  const other = RANGE_NAMES.find(name => !name.endsWith('_date') && range[name] !== undefined)
  if (other === undefined) return
  throw badRequest(
    {
      en: `Parameters 'step' and '${other}' cannot be combined; give the range of steps by 'start_date' and 'end_date'.`,
      zh: `参数 'step' 与 '${other}' 不能同时使用；按步长查询时请用 'start_date' 和 'end_date' 指定区间。`,
    },
    { parameter: other },
  )
}

/** The days of a range. */
export const datesOf = ({ start_date, end_date }: Range): Dates => ({
  start_date: start_date === undefined ? undefined : dayOf(start_date),
  end_date: end_date === undefined ? undefined : dayOf(end_date),
})
