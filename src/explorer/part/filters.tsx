/** @jsxImportSource @kitajs/html */
import { lately } from '../format/period.ts'
import { visible } from '../format/visible.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'
import type { Field } from './form-fields.ts'

/** The choices that a field offers. */
type Choices = {
  /** Suggestions during typing, or the options of a select. */
  readonly choices: readonly string[]
  /** Labels of the choices; absent: the choices are shown unchanged. */
  readonly words?: ReadonlyMap<string, string>
}

type FiltersProps = {
  readonly visit: Visit
  readonly fields: readonly Field[]
  /** By the names of fields. */
  readonly choices?: Readonly<Record<string, Choices>>
  /** The text of the button; absent: the usual one for filters. */
  readonly button?: string
}

/** A form whose fields become parameters of the page's address. */
export const Filters = ({ visit, fields, choices = {}, button }: FiltersProps): Html => {
  const { say, query } = visit
  const isUsed = fields.some(({ name }) => (query.get(name) ?? '') !== '')
  return (
    <form class="filters" action={hrefTo(visit, visit.path)} method="get" autocomplete="off">
      {fields.map(field => (
        <FilterField visit={visit} field={field} {...choices[field.name]} />
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

type FilterFieldProps = Partial<Choices> & {
  readonly visit: Pick<Visit, 'query' | 'say'>
  readonly field: Field
}

const FilterField = ({ visit, field, choices = [], words }: FilterFieldProps): Html => {
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
            <option safe>{visible(choice)}</option>
          ))}
        </datalist>
      )}
    </label>
  )
}

/** A select of one value, or of any. A value in the address is always an option, even an unknown one. */
const Choice = ({ visit, field: { name, label }, choices = [], words }: FilterFieldProps): Html => {
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
            {visible(words?.get(choice) ?? choice)}
          </option>
        ))}
      </select>
    </label>
  )
}
