import type { Text } from '#actions/text.ts'
import { dateOf, dayOf, dayOfDate } from '#chain/time.ts'
import type { Visit } from '../page.ts'

/** Default length of a period, in days. */
const DAYS = 30

/** First and last day, in the form of the API. The API refuses invalid values of an address. */
export type Period = { readonly start_date: string; readonly end_date: string }

/** The last `days` days, up to the day of the last block. */
export const lately = ({ at }: Pick<Visit, 'at'>, days = DAYS): Period => endingWith(dayOf(at.time), days)

const endingWith = (day: number, days: number): Period => ({
  start_date: dateOf(Math.max(0, day - days + 1)),
  end_date: dateOf(day),
})

/**
 * The days in an address, as parameters of the API. The API chooses missing ones from the loaded data: a
 * service that is still loading cannot answer for a last day that it has not reached.
 */
export const daysGiven = ({ query }: Pick<Visit, 'query'>): Partial<Period> => {
  const [start_date, end_date] = [query.get('start_date') ?? '', query.get('end_date') ?? '']
  return { ...(start_date === '' ? {} : { start_date }), ...(end_date === '' ? {} : { end_date }) }
}

/**
 * The period of an address, with the defaults of the API: without a start it has the last days up to its end, or up to
 * the day of the last block if that is earlier.
 */
export const periodOf = ({ at, query }: Pick<Visit, 'at' | 'query'>): Period => {
  const today = dayOf(at.time)
  const { start_date, end_date } = daysGiven({ query })
  const end = dayOfDate(end_date ?? '') ?? Math.max(today, dayOfDate(start_date ?? '') ?? today)
  return {
    start_date: start_date ?? endingWith(Math.min(end, today), DAYS).start_date,
    end_date: end_date ?? dateOf(end),
  }
}

/**
 * The periods of the same length before and after one; absent: that period has no data. `days`: the days of the answer.
 */
export const besides = (
  visit: Pick<Visit, 'at'>,
  { start_date }: Period,
  days: readonly { readonly date: string }[],
): { readonly before?: Period; readonly after?: Period } => {
  const first = dayOfDate(days[0]?.date ?? '')
  const last = dayOfDate(days.at(-1)?.date ?? '')
  if (first === undefined || last === undefined) return {}
  const length = last - first + 1
  const today = dayOf(visit.at.time)
  return {
    // Days before the first block are not in the answer.
    ...(dateOf(first) === start_date && first > 0 ? { before: endingWith(first - 1, length) } : {}),
    ...(last < today ? { after: endingWith(Math.min(today, last + length), length) } : {}),
  }
}

/** The day after another. */
export function dateAfter(date: string): string {
  return dateOf((dayOfDate(date) ?? 0) + 1)
}

/** A common period: its name, and its first and last day. Without a last day it goes up to the last block. */
export type UsualPeriod = { readonly name: Text; readonly from: string; readonly to?: string }

/** Last 7 and 30 days, this and last month, this and last year, by the day of the last block. */
export const usualPeriods = ({ at }: Pick<Visit, 'at'>): readonly UsualPeriod[] => {
  const today = dateOf(dayOf(at.time))
  const year = Number(today.slice(0, 'yyyy'.length))
  const since = (from: string, name: Text): UsualPeriod => ({ name, from })
  const last = (days: number): UsualPeriod =>
    since(lately({ at }, days).start_date, { en: `Last ${days} days`, zh: `近 ${days} 天` })
  const dayBefore = (date: string): string => dateOf(Math.max(0, (dayOfDate(date) ?? 0) - 1))
  const thisMonth = `${today.slice(0, 'yyyy-mm'.length)}-01`
  const endOfLastMonth = dayBefore(thisMonth)
  return [
    last(7),
    last(30),
    since(thisMonth, { en: 'This month', zh: '本月' }),
    {
      ...{ name: { en: 'Last month', zh: '上月' }, to: endOfLastMonth },
      from: `${endOfLastMonth.slice(0, 'yyyy-mm'.length)}-01`,
    },
    since(`${year}-01-01`, { en: 'This year', zh: '今年' }),
    { name: { en: 'Last year', zh: '去年' }, from: `${year - 1}-01-01`, to: `${year - 1}-12-31` },
  ]
}
