import type { Step } from '#actions/request/step.ts'
import type { Text } from '#actions/text.ts'
import { dateOf, dayOf } from '#chain/time.ts'
import type { Visit } from '../page.ts'

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
const MOST_ROWS = 31
const WEEK = 7
/** Maximum rows of a history by steps. */
const SIZE = '400'

/** The steps of a history since a time (ISO-8601 UTC): days for a short history, then weeks, then months. */
export const stepsSince = ({ at }: Pick<Visit, 'at'>, iso: string): Steps => {
  const first = dayOfIso(iso)
  const days = dayOf(at.time) - first + 1
  const step = days <= MOST_ROWS ? 'day' : days <= MOST_ROWS * WEEK ? 'week' : 'month'
  return { step, start_date: dateOf(first), page: '1', size: SIZE }
}

/** UTC day since 1970 of an ISO-8601 time in UTC. */
export const dayOfIso = (iso: string): number => dayOf(BigInt(Date.parse(iso)) * 1_000_000n)

/** Rows with dates named like their step: a month has no day. */
export const named = <R extends StepRow>(step: Step, rows: readonly R[]): readonly R[] =>
  step === 'month' ? rows.map(row => ({ ...row, date: row.date.slice(0, 'yyyy-mm'.length) })) : rows

/** The name of a step, as a table's title and as the head of its first column. */
export const STEP_NAMES: Readonly<Record<Step, { readonly title: Text; readonly head: Text }>> = {
  day: { title: { en: 'By day', zh: '按日' }, head: { en: 'Day (UTC)', zh: '日期（UTC）' } },
  week: { title: { en: 'By week', zh: '按周' }, head: { en: 'Week from (UTC)', zh: '周起始日（UTC）' } },
  month: { title: { en: 'By month', zh: '按月' }, head: { en: 'Month (UTC)', zh: '月份（UTC）' } },
}
