/** @jsxImportSource @kitajs/html */
import { type FormField, PERIOD_FIELDS } from '../format/field.ts'
import { type DayPeriod, getRecentPeriod, listAdjacentPeriods } from '../format/period.ts'
import { revealInvisible } from '../format/text.ts'
import { toHref } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** The choices that a field offers. */
type Choices = {
  /** Suggestions during typing, or the options of a select. */
  readonly choices: readonly string[]
  /** Labels of the choices; absent: the choices are shown unchanged. */
  readonly words?: ReadonlyMap<string, string>
}

type FiltersProps = {
  readonly visit: Visit
  readonly fields: readonly FormField[]
  /** By the names of fields. */
  readonly choices?: Readonly<Record<string, Choices>>
  /** The text of the button; absent: the usual one for filters. */
  readonly button?: string
}

/** A form whose fields become parameters of the page's address. */
export function Filters({ visit, fields, choices = {}, button }: FiltersProps): Html {
  const { say, query } = visit
  const isUsed = fields.some(({ name }) => (query.get(name) ?? '') !== '')
  return (
    <form class="filters" action={toHref(visit, visit.path)} method="get" autocomplete="off">
      {fields.map(field => (
        <FilterField visit={visit} field={field} {...choices[field.name]} />
      ))}
      <button type="submit" safe>
        {button ?? say({ en: 'Apply', zh: '应用' })}
      </button>
      {isUsed && (
        <a href={toHref(visit, visit.path)} safe>
          {say({ en: 'Clear', zh: '清除' })}
        </a>
      )}
      {fields.some(({ name }) => name === 'from') && <RecentDays visit={visit} />}
    </form>
  )
}

/** Lengths of the linked periods, in days. */
const RECENT_DAYS = [7, 30] as const

/** Links to the most recent days of the chain. Other filters are kept. */
function RecentDays({ visit }: { readonly visit: Visit }): Html {
  const to = (days: number): string => {
    const query = new URLSearchParams(visit.query)
    for (const name of ['to', 'page', 'after']) query.delete(name)
    query.set('from', getRecentPeriod(visit, days).start_date)
    return toHref(visit, `${visit.path}?${query}`)
  }
  return (
    <span class="steps">
      {RECENT_DAYS.map(days => (
        <a href={to(days)} rel="nofollow" safe>
          {visit.say({ en: `Last ${days} days`, zh: `近 ${days} 天` })}
        </a>
      ))}
    </span>
  )
}

type FilterFieldProps = Partial<Choices> & {
  readonly visit: Pick<Visit, 'query' | 'say'>
  readonly field: FormField
}

function FilterField({ visit, field, choices = [], words }: FilterFieldProps): Html {
  const { name, label, type } = field
  const value = visit.query.get(name) ?? ''
  if (type === 'select')
    return <Choice visit={visit} field={field} choices={choices} {...(words === undefined ? {} : { words })} />
  return (
    <label class={type === 'checkbox' ? 'check' : undefined}>
      <span safe>{visit.say(label)}</span>
      <input
        name={name}
        type={type}
        {...(type === 'checkbox' ? { value: '1', checked: value === '1' } : { value })}
        {...(type === 'number' ? { min: '0', step: '1' } : {})}
        {...(choices.length === 0 ? {} : { list: `${name}-choices` })}
      />
      {choices.length !== 0 && (
        <datalist id={`${name}-choices`}>
          {choices.map(choice => (
            <option safe>{revealInvisible(choice)}</option>
          ))}
        </datalist>
      )}
    </label>
  )
}

/** A select of one value, or of any. A value in the address is always an option, even an unknown one. */
function Choice({ visit, field: { name, label }, choices = [], words }: FilterFieldProps): Html {
  const value = visit.query.get(name) ?? ''
  const all = value === '' || choices.includes(value) ? choices : [value, ...choices]
  return (
    <label>
      <span safe>{visit.say(label)}</span>
      <select name={name}>
        <option value="" safe>
          {visit.say({ en: 'Any', zh: '不限' })}
        </option>
        {all.map(choice => (
          <option value={choice} selected={choice === value} safe>
            {revealInvisible(words?.get(choice) ?? choice)}
          </option>
        ))}
      </select>
    </label>
  )
}

type PeriodBarProps = {
  readonly visit: Visit
  readonly period: DayPeriod
  /** The days of the answer. */
  readonly days: readonly { readonly date: string }[]
}

/** Lengths of the linked periods, in days. */
const PERIOD_DAYS = [30, 90, 366] as const

/** The controls for a page's period. */
export function PeriodBar({ visit, period, days }: PeriodBarProps): Html {
  const { say } = visit
  const to = (other: Partial<DayPeriod>): string => toHref(visit, `${visit.path}?${new URLSearchParams({ ...other })}`)
  const daysOf = new Map(Object.entries(period))
  const { before, after } = listAdjacentPeriods(visit, period, days)
  return (
    <div class="period">
      <form class="filters" method="get" action={toHref(visit, visit.path)}>
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
        {PERIOD_DAYS.map(length => (
          <a href={to({ start_date: getRecentPeriod(visit, length).start_date })} safe>
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
