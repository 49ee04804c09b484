import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { dateOf, startOfDay } from '#chain/time.ts'
import { seriesOf } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import { defineAction } from './define.ts'
import { daysAsked } from './find/asked-days.ts'
import { momentsAt } from './find/point.ts'
import { flowsThen } from './find/series.ts'
import { unknown } from './find/unknown.ts'
import { wholeOf } from './list/paging.ts'
import { dates, datesWithin } from './request/dates.ts'
import { token } from './request/parameter-types.ts'
import { step, stepsBetween } from './request/step.ts'
import { count, flag, listOfRows, shape, text } from './shape/results.ts'

/** Days of 400 months: steps are counted by themselves. */
const checkDates = datesWithin(400 * 31)

const row = shape({
  date: text('First UTC day of the step.', '该步长的首个 UTC 日期。'),
  complete: flag(
    'Whether the step is over: false for the one of the last published block, whose figures are those so far.',
    '该步长是否已结束：最新已发布区块所在的步长为 false，其数值截至该区块。',
  ),
  issued: text('Issued in it, in token units.', '期间发行的数量（代币单位）。'),
  destroyed: text('Destroyed in it, in token units.', '期间销毁的数量（代币单位）。'),
  supply: text('Supply at its end, in token units.', '期末流通量（代币单位）。'),
  holders: count('Owners with an available balance above 0 at its end.', '期末可用余额大于 0 的持有者数量。'),
})

/** How much of a token there was. */
export const getSupplyHistory = defineAction({
  module: 'token',
  action: 'get-supply-history',
  title: { en: 'Supply of a token over time', zh: '代币供应量历史' },
  summary: {
    en: 'What was issued and destroyed of a token in each UTC day, week or month of the range, and its supply and holders at the end of each, oldest first, at most 400 rows. Weeks and months are whole, also where the range begins or ends within one. Those before the first block and after the last published one are left out. Without end_date the range ends with the day of the last published block.',
    zh: '区间内每个 UTC 日、周或月的代币发行与销毁数量，以及期末的流通量与持有者数量，从早到晚排列，最多 400 行。周与月总是完整的，即使区间从其中间开始或结束。首个区块之前与最新已发布区块之后的不列出。不提供 end_date 时截至最新已发布区块所在日期。',
  },
  params: Type.Object({ token: token(), step: step('day'), ...dates }),
  check: checkDates,
  result: listOfRows('steps', row, { en: 'Days, weeks or months.', zh: '日、周或月的列表。' }),
  list: 'steps',
  run: async (context, { token: symbol, step: by, ...given }) => {
    const { view } = context
    const found = await view.get(tokens, symbol)
    if (found === undefined) throw unknown(context, 'token', symbol)
    const { from, to, today } = await daysAsked(context, given, checkDates)
    const steps = stepsBetween(by, from, to)
    const ends = [startOfDay(steps[0]?.first ?? from), ...steps.map(({ last }) => startOfDay(last + 1))]
    const heights = (
      await momentsAt(
        view,
        ends.map(end => end - 1n),
      )
    ).map(moment => moment?.height ?? -1)
    const [supply, holders] = await Promise.all([
      flowsThen(view, seriesOf.supply(symbol), heights),
      flowsThen(view, seriesOf.holders(symbol), heights),
    ])
    const shown = (units: bigint) => fromUnits(units, found.decimal)
    const rows = steps.map(({ first, last }, at) => {
      const [before = NONE, after = NONE, held = NONE] = [supply[at], supply[at + 1], holders[at + 1]]
      return {
        date: dateOf(first),
        complete: last < today,
        issued: shown(after.gained - before.gained),
        destroyed: shown(after.lost - before.lost),
        supply: shown(after.gained - after.lost),
        holders: Number(held.gained - held.lost),
      }
    })
    return wholeOf('steps', rows)
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { token: 'iost', step: 'day' },
})

const NONE = { gained: 0n, lost: 0n }
