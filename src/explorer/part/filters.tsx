/** @jsxImportSource @kitajs/html */
import { lately } from '../format/period.ts'
import { visible } from '../format/visible.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** A field of a filter form; `name` is its parameter in the page's address. */
export type Field = {
  readonly name: string
  readonly label: string
  /** A checked box has the value 1. */
  readonly type: 'text' | 'date' | 'number' | 'checkbox' | 'select'
  /** Suggestions during typing, or the options of a select. */
  readonly choices?: readonly string[]
  /** Labels of the choices; absent: the choices are shown unchanged. */
  readonly words?: ReadonlyMap<string, string>
}

type FiltersProps = {
  readonly visit: Visit
  readonly fields: readonly Field[]
  /** The text of the button; absent: the usual one for filters. */
  readonly button?: string
}

/** A form whose fields become parameters of the page's address. */
export const Filters = ({ visit, fields, button }: FiltersProps): Html => {
  const { say, query } = visit
  const isUsed = fields.some(({ name }) => (query.get(name) ?? '') !== '')
  return (
    <form class="filters" action={hrefTo(visit, visit.path)} method="get" autocomplete="off">
      {fields.map(field => (
        <FilterField visit={visit} field={field} />
      ))}
      <button type="submit" safe>
        {button ?? say({ en: 'Apply', zh: '应用' })}
      </button>
      {isUsed && (
        <a href={hrefTo(visit, visit.path)} safe>
          {say({ en: 'Clear', zh: '清除' })}
        </a>
      )}
      {fields.some(({ name }) => name === 'from') && <Lately visit={visit} />}
    </form>
  )
}

/** Lengths of the linked periods, in days. */
const LENGTHS = [7, 30] as const

/** Links to the most recent days of the chain. Other filters are kept. */
const Lately = ({ visit }: { readonly visit: Visit }): Html => {
  const to = (days: number): string => {
    const query = new URLSearchParams(visit.query)
    for (const name of ['to', 'page', 'after']) query.delete(name)
    query.set('from', lately(visit, days).start_date)
    return hrefTo(visit, `${visit.path}?${query}`)
  }
  return (
    <span class="steps">
      {LENGTHS.map(days => (
        <a href={to(days)} rel="nofollow" safe>
          {visit.say({ en: `Last ${days} days`, zh: `近 ${days} 天` })}
        </a>
      ))}
    </span>
  )
}

type FilterFieldProps = { readonly visit: Pick<Visit, 'query' | 'say'>; readonly field: Field }

const FilterField = ({ visit, field }: FilterFieldProps): Html => {
  const { name, label, type, choices = [] } = field
  const value = visit.query.get(name) ?? ''
  if (type === 'select') return <Choice visit={visit} field={field} />
  return (
    <label class={type === 'checkbox' ? 'check' : undefined}>
      <span safe>{label}</span>
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
            <option safe>{visible(choice)}</option>
          ))}
        </datalist>
      )}
    </label>
  )
}

/** A select of one value, or of any. A value in the address is always an option, even an unknown one. */
const Choice = ({ visit, field: { name, label, choices = [], words } }: FilterFieldProps): Html => {
  const value = visit.query.get(name) ?? ''
  const all = value === '' || choices.includes(value) ? choices : [value, ...choices]
  return (
    <label>
      <span safe>{label}</span>
      <select name={name}>
        <option value="" safe>
          {visit.say({ en: 'Any', zh: '不限' })}
        </option>
        {all.map(choice => (
          <option value={choice} selected={choice === value} safe>
            {visible(words?.get(choice) ?? choice)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The fields for a range of days and blocks, each with its parameter of the API. */
export const RANGE_FIELDS = [
  {
    name: 'from',
    parameter: 'start_date',
    type: 'date',
    label: { en: 'From day (UTC)', zh: '起始日期（UTC）' },
  },
  {
    name: 'to',
    parameter: 'end_date',
    type: 'date',
    label: { en: 'To day (UTC)', zh: '结束日期（UTC）' },
  },
  {
    name: 'start_block',
    parameter: 'start_block',
    type: 'number',
    label: { en: 'From block', zh: '起始区块' },
  },
  {
    name: 'end_block',
    parameter: 'end_block',
    type: 'number',
    label: { en: 'To block', zh: '结束区块' },
  },
] as const

/** The same fields in the visitor's language. */
export const rangeFields = ({ say }: Pick<Visit, 'say'>): readonly Field[] =>
  RANGE_FIELDS.map(({ name, label, type }) => ({ name, label: say(label), type }))

/** The field names of `rangeFields`. */
export const RANGE = RANGE_FIELDS.map(({ name }) => name)

/** The filled filter fields of an address, as parameters of the API. The API refuses an invalid day or number. */
export const filtersGiven = (
  { query }: Pick<Visit, 'query'>,
  names: readonly string[],
): Readonly<Record<string, string>> => {
  const given: [string, string][] = []
  const add = (parameter: string, text: string | null): void => {
    if (text !== null && text !== '') given.push([parameter, text])
  }
  for (const name of names) add(name, query.get(name))
  for (const { name, parameter } of RANGE_FIELDS) add(parameter, query.get(name))
  return Object.fromEntries(given)
}
