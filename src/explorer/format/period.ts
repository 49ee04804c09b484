import type { Text } from '#actions/define.ts'
import type { Step } from '#actions/request/range.ts'
import { formatDate, parseDay, toDay } from '#chain/time.ts'
import type { Visit } from '../page.ts'

/** Default length of a period, in days. */
const DAYS = 30

/** First and last day, in the form of the API. The API refuses invalid values of an address. */
export type DayPeriod = { readonly start_date: string; readonly end_date: string }

/** The last `days` days, up to the day of the last block. */
export const getRecentPeriod = ({ at }: Pick<Visit, 'at'>, days = DAYS): DayPeriod => buildPeriod(toDay(at.time), days)

const buildPeriod = (day: number, days: number): DayPeriod => ({
  start_date: formatDate(Math.max(0, day - days + 1)),
  end_date: formatDate(day),
})

/**
 * The days in an address, as parameters of the API. The API chooses missing ones from the loaded data: a
 * service that is still loading cannot answer for a last day that it has not reached.
 */
export function readGivenDays({ query }: Pick<Visit, 'query'>): Partial<DayPeriod> {
  const [start_date, end_date] = [query.get('start_date') ?? '', query.get('end_date') ?? '']
  return { ...(start_date === '' ? {} : { start_date }), ...(end_date === '' ? {} : { end_date }) }
}

/**
 * The period of an address, with the defaults of the API: without a start it has the last days up to its end, or up to
 * the day of the last block if that is earlier.
 */
export function parsePeriod({ at, query }: Pick<Visit, 'at' | 'query'>): DayPeriod {
  const today = toDay(at.time)
  const { start_date, end_date } = readGivenDays({ query })
  const end = parseDay(end_date ?? '') ?? Math.max(today, parseDay(start_date ?? '') ?? today)
  return {
    start_date: start_date ?? buildPeriod(Math.min(end, today), DAYS).start_date,
    end_date: end_date ?? formatDate(end),
  }
}

/**
 * The periods of the same length before and after one; absent: that period has no data. `days`: the days of the answer.
 */
export function listAdjacentPeriods(
  visit: Pick<Visit, 'at'>,
  { start_date }: DayPeriod,
  days: readonly { readonly date: string }[],
): { readonly before?: DayPeriod; readonly after?: DayPeriod } {
  const first = parseDay(days[0]?.date ?? '')
  const last = parseDay(days.at(-1)?.date ?? '')
  if (first === undefined || last === undefined) return {}
  const length = last - first + 1
  const today = toDay(visit.at.time)
  return {
    // Days before the first block are not in the answer.
    ...(formatDate(first) === start_date && first > 0 ? { before: buildPeriod(first - 1, length) } : {}),
    ...(last < today ? { after: buildPeriod(Math.min(today, last + length), length) } : {}),
  }
}

/** The steps of a history as parameters of the API: their length, and the first day. */
export type Steps = {
  readonly step: Step
  readonly start_date: string
  readonly page: '1'
  readonly size: string
}

/** A row of a history by steps. */
export type StepRow = { readonly date: string; readonly complete: boolean }

/** Maximum rows of a plot by days, or by weeks. */
const MAX_ROWS = 31
const WEEK = 7
const SIZE = '400'

/** The steps of a history since a time (ISO-8601 UTC): days for a short history, then weeks, then months. */
export function selectStepsSince({ at }: Pick<Visit, 'at'>, iso: string): Steps {
  const first = parseIsoDay(iso)
  const days = toDay(at.time) - first + 1
  const step = days <= MAX_ROWS ? 'day' : days <= MAX_ROWS * WEEK ? 'week' : 'month'
  return { step, start_date: formatDate(first), page: '1', size: SIZE }
}

/** UTC day since 1970 of an ISO-8601 time in UTC. */
export const parseIsoDay = (iso: string): number => toDay(BigInt(Date.parse(iso)) * 1_000_000n)

/** Rows with dates named like their step: a month has no day. */
export const nameSteps = <R extends StepRow>(step: Step, rows: readonly R[]): readonly R[] =>
  step === 'month' ? rows.map(row => ({ ...row, date: row.date.slice(0, 'yyyy-mm'.length) })) : rows

/** The name of a step, as a table's title and as the head of its first column. */
export const STEP_NAMES: Readonly<Record<Step, { readonly title: Text; readonly head: Text }>> = {
  day: { title: { en: 'By day', zh: '按日' }, head: { en: 'Day (UTC)', zh: '日期（UTC）' } },
  week: { title: { en: 'By week', zh: '按周' }, head: { en: 'Week from (UTC)', zh: '周起始日（UTC）' } },
  month: { title: { en: 'By month', zh: '按月' }, head: { en: 'Month (UTC)', zh: '月份（UTC）' } },
}

/** A figure; the unit is `""` for counts. */
const figure = <N extends string>(name: N, title: Text, unit = '') => ({ name, title, unit })

/** Every figure of get-daily-statistics, in display order. */
export const FIGURES = [
  figure('transactions', { en: 'Transactions', zh: '交易数' }),
  figure('failed_transactions', { en: 'Failed transactions', zh: '失败的交易' }),
  figure('actions', { en: 'Actions', zh: '方法调用数' }),
  figure('token_movements', { en: 'Token movements', zh: '代币变动次数' }),
  figure('iost_moved', { en: 'IOST moved, with issued and destroyed', zh: 'IOST 变动总额（含增发与销毁）' }, 'IOST'),
  figure('new_accounts', { en: 'New accounts', zh: '新账户' }),
  figure('new_contracts', { en: 'New contracts', zh: '新合约' }),
  figure('blocks', { en: 'Blocks', zh: '区块数' }),
  figure('highest_tps', { en: 'Peak transactions per second', zh: '单秒最高交易数' }),
  figure('gas_usage', { en: 'Gas used', zh: '消耗的 gas' }, 'gas'),
  figure('votes', { en: 'Votes at the end of the day', zh: '当日结束时的总票数' }, 'IOST'),
  figure('ram_buy_price', { en: 'RAM buy price per byte', zh: '每字节 RAM 买入价' }, 'IOST'),
  figure('ram_sell_price', { en: 'RAM sell price per byte', zh: '每字节 RAM 卖出价' }, 'IOST'),
  figure('ram_fee', { en: 'RAM fees', zh: 'RAM 手续费' }, 'IOST'),
] as const

type FigureName = (typeof FIGURES)[number]['name']

export type Daily = Readonly<Record<FigureName, string | number>> & {
  readonly date: string
  readonly complete: boolean
}

/** The rows of get-daily-statistics for the whole chain, that is, of a call without account and token. */
export const chainDays = <D extends { readonly date: string }>(days: readonly D[]) =>
  days.filter((day): day is Extract<D, { readonly blocks: number }> => 'blocks' in day)

/** The series of one figure by day. */
export const toDailySeries = (
  days: readonly Daily[],
  name: FigureName,
): readonly { readonly date: string; readonly value: string }[] =>
  days.map(day => ({ date: day.date, value: String(day[name]) }))
