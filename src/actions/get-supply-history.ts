import { Type } from '@sinclair/typebox'
import { formatDate, startOfDay } from '#chain/time.ts'
import { tokens } from '#indices/token.ts'
import { defineAction } from './define.ts'
import { readSupplies } from './find/day-statistics.ts'
import { checkStepDates, listStepHeights, requestedSteps } from './find/days.ts'
import { unknown } from './find/loading.ts'
import { buildWholeList } from './list/paging.ts'
import { token } from './request/parameter-types.ts'
import { checkRange, type Dates, dates, type RowRange, range } from './request/range.ts'
import { step } from './request/steps.ts'
import { count, flag, listOfRows, shape, text } from './shape/results.ts'

const { start_block, end_block, start_time, end_time } = range
const blockRange = { start_block, end_block, start_time, end_time }

function checkAsked({ start_date, end_date, ...blocks }: Dates & Omit<RowRange, 'start_date' | 'end_date'>) {
  checkStepDates({ start_date, end_date })
  checkRange({
    ...blocks,
    ...(start_date === undefined ? {} : { start_date: startOfDay(start_date) }),
    ...(end_date === undefined ? {} : { end_date: startOfDay(end_date + 1) - 1n }),
  })
}

const supplyRow = shape({
  date: text('First UTC day of the step.', '该周期的首个 UTC 日期。'),
  complete: flag(
    'Whether the step is over and complete: false for the step of the last published block, whose figures are preliminary, and for a step within which a range of blocks or times begins or ends.',
    '该周期是否已结束且完整：最新已发布区块所在的周期（数值截至该区块）以及区块或时间区间的起点、终点所在的周期为 false。',
  ),
  issued: text('Issued in it, in token units.', '期间发行的数量（代币单位）。'),
  destroyed: text('Destroyed in it, in token units.', '期间销毁的数量（代币单位）。'),
  supply: text('Supply at its end, in token units.', '期末供应量（代币单位）。'),
  holders: count('Owners with an available balance above 0 at its end.', '期末可用余额大于 0 的持有者数量。'),
})

/** Supply, issue and destruction of a token over time. */
export const getSupplyHistory = defineAction({
  module: 'token',
  action: 'get-supply-history',
  title: { en: 'Supply of a token over time', zh: '代币供应量历史' },
  summary: {
    en: 'Amounts of a token that were issued and destroyed in each UTC day, week or month of the range, and its supply and holders at the end of each, oldest first, at most 400 rows. Weeks and months are whole, also where start_date or end_date is within one; with blocks or times, the first and the last row have the figures of their part within the range. Those before the first block and after the last published one are left out. Without an end the range ends with the day of the last published block, without a start it has 30 days.',
    zh: '区间内每个 UTC 日、周或月的代币发行与销毁数量，以及期末的供应量与持有者数量，从早到晚排列，最多 400 行。周与月总是完整的，即使 start_date 或 end_date 在其中间；以区块或时间限定时，首行与末行只含区间内部分的数值。首个区块之前与最新已发布区块之后的不列出。不提供终点时截至最新已发布区块所在日期，不提供起点时共 30 天。',
  },
  params: Type.Object({ token: token(), step: step('day'), ...dates, ...blockRange }),
  check: checkAsked,
  result: listOfRows('steps', supplyRow, { en: 'Days, weeks or months.', zh: '日、周或月的列表。' }),
  list: 'steps',
  run: async (context, { token: symbol, step: by, ...asked }) => {
    const { view } = context
    const found = await view.get(tokens, symbol)
    if (found === undefined) throw unknown(context, 'token', symbol)
    const steps = await requestedSteps(context, { step: by, ...asked })
    const supplies = await readSupplies(view, found, listStepHeights(steps))
    const rows = steps.map(({ first, isWhole }, at) => ({
      date: formatDate(first),
      complete: isWhole,
      ...supplies[at],
    }))
    return buildWholeList('steps', rows)
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { token: 'iost', step: 'day' },
})
