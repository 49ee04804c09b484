/** @jsxImportSource @kitajs/html */
import { besides, lately, type Period } from '../format/period.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'
import { PERIOD_FIELDS } from './form-fields.ts'

type PeriodBarProps = {
  readonly visit: Visit
  readonly period: Period
  /** The days of the answer. */
  readonly days: readonly { readonly date: string }[]
}

/** Lengths of the linked periods, in days. */
const LENGTHS = [30, 90, 366] as const

/** The controls for a page's period. */
export const PeriodBar = ({ visit, period, days }: PeriodBarProps): Html => {
  const { say } = visit
  const to = (other: Partial<Period>): string => hrefTo(visit, `${visit.path}?${new URLSearchParams({ ...other })}`)
  const daysOf = new Map(Object.entries(period))
  const { before, after } = besides(visit, period, days)
  return (
    <div class="period">
      <form class="filters" method="get" action={hrefTo(visit, visit.path)}>
        {PERIOD_FIELDS.map(({ name, type, label }) => (
          <label>
            <span safe>{say(label)}</span>
            <input type={type} name={name} value={daysOf.get(name) ?? ''} />
          </label>
        ))}
        <button type="submit" safe>
          {say({ en: 'Show', zh: '显示' })}
        </button>
      </form>
      <nav class="steps" aria-label={say({ en: 'Period', zh: '区间' })}>
        {before !== undefined && (
          <a href={to(before)} rel="prev" safe>
            {say({ en: '← Earlier', zh: '← 更早' })}
          </a>
        )}
        {LENGTHS.map(length => (
          <a href={to({ start_date: lately(visit, length).start_date })} safe>
            {say({ en: `${length} days`, zh: `${length} 天` })}
          </a>
        ))}
        {after !== undefined && (
          <a href={to(after)} rel="next" safe>
            {say({ en: 'Later →', zh: '更晚 →' })}
          </a>
        )}
      </nav>
    </div>
  )
}
