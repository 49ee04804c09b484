import { flag, text } from './results.ts'

/** The first fields of each row that is a step of a history. */
export const stepFields = {
  date: text('Only with step: first UTC day of the step.', '仅在使用 step 时返回：该周期的首个 UTC 日期。'),
  complete: flag(
    'Only with step: whether the step is over; false for the step of the last published block, whose figures are preliminary.',
    '仅在使用 step 时返回：该周期是否已结束；最新已发布区块所在的周期为 false，其数值截至该区块。',
  ),
}
