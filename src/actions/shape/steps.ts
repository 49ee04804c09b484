import { flag, text } from './results.ts'

/** The first fields of each row that is a step of a history. */
export const stepFields = {
  date: text('Only with step: first UTC day of the step.', '仅在使用 step 时返回：该周期的首个 UTC 日期。'),
  complete: flag(
    'Only with step: whether the step is over and complete: false for the step of the last published block, whose figures are preliminary, and for a step within which a range of blocks or times begins or ends.',
    '仅在使用 step 时返回：该周期是否已结束且完整；最新已发布区块所在的周期为 false（数值截至该区块），区块或时间区间在其中间开始或结束的周期也为 false。',
  ),
}
