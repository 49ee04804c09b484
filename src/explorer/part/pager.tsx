/** @jsxImportSource @kitajs/html */
import type { CallParameters } from '#actions/ask.ts'
import type { Text } from '#actions/text.ts'
import { grouped } from '../format/amount.ts'
import { counted } from '../format/counted.ts'
import { hrefTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** Rows per page of the explorer. */
const PAGE_SIZE = 25

/** The requested page of a list, as parameters of the API. */
export const pageGiven = ({ query }: Pick<Visit, 'query'>): { readonly page: string; readonly size: string } => ({
  page: query.get('page') || '1',
  size: String(PAGE_SIZE),
})

/** The number of the requested page; 1 if the parameter is not a whole number. */
const numberOf = ({ query }: Pick<Visit, 'query'>): number => {
  const page = query.get('page') ?? ''
  return /^\d+$/.test(page) ? Math.max(1, Number(page)) : 1
}

/** The last page of a list of `total` rows. */
const lastOf = (total: number): number => Math.max(1, Math.ceil(total / PAGE_SIZE))

/** The rows of the requested page, or of the last one if it is beyond the end, of a list in memory. */
export const pageOf = <R,>(visit: Pick<Visit, 'query'>, rows: readonly R[]): readonly R[] => {
  const page = Math.min(lastOf(rows.length), numberOf(visit))
  return rows.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
}

/**
 * The last page of a list, if the requested page is beyond it. The list may have had that page before, and
 * its visitors see the end of the list instead of an empty page. undefined: the page exists, or the call is
 * not for the page of the address.
 */
export const lastInstead = (
  visit: Pick<Visit, 'query'>,
  given: CallParameters,
  answer: unknown,
): number | undefined => {
  const isOfAddress = given['page'] === visit.query.get('page') && given['size'] === String(PAGE_SIZE)
  const total = isOfAddress ? (answer as { readonly total?: unknown } | null)?.total : undefined
  if (typeof total !== 'number') return undefined
  const last = lastOf(total)
  return numberOf(visit) > last ? last : undefined
}

/** The path of another page of the list, with the other parameters of the address. */
export const pathOfPage = ({ path, query }: Pick<Visit, 'path' | 'query'>, page: number): string => {
  const other = new URLSearchParams(query)
  if (page === 1) other.delete('page')
  else other.set('page', String(page))
  return `${path}${searchOf(other)}`
}

/** The query of an address with its question mark; `""` for an empty one. */
export function searchOf(query: URLSearchParams): string {
  return query.size === 0 ? '' : `?${query}`
}

/** The rank in the whole list, from 1, of the row at index `at` of the current page. */
export const rankOf = (visit: Pick<Visit, 'query'>, at: number): number => (numberOf(visit) - 1) * PAGE_SIZE + at + 1

/** Links to the other pages of a list. `total`: number of rows. */
export const Pager = ({ visit, total }: { readonly visit: Visit; readonly total: number }): Html => {
  const last = lastOf(total)
  const page = Math.min(last, numberOf(visit))
  const to = (number: number): string => hrefTo(visit, pathOfPage(visit, number))
  const Step = ({ number, text, rel }: { number: number; text: string; rel?: 'prev' | 'next' }): Html =>
    number < 1 || number > last || number === page ? (
      <span aria-disabled="true" safe>
        {text}
      </span>
    ) : (
      <a href={to(number)} rel={rel} safe>
        {text}
      </a>
    )
  if (last === 1)
    return (
      <p class="pager" safe>
        {visit.say(countOf({ page, last, total }))}
      </p>
    )
  return (
    <nav class="pager" aria-label={visit.say({ en: 'Pages', zh: '分页' })}>
      <span safe>{visit.say(countOf({ page, last, total }))}</span>
      <span class="steps">
        <Step number={1} text={visit.say({ en: 'First', zh: '首页' })} />
        <Step number={page - 1} text={visit.say({ en: 'Previous', zh: '上一页' })} rel="prev" />
        <Step number={page + 1} text={visit.say({ en: 'Next', zh: '下一页' })} rel="next" />
        <Step number={last} text={visit.say({ en: 'Last', zh: '末页' })} />
      </span>
      {last > SHORT && <AnyPage visit={visit} page={page} last={last} />}
    </nav>
  )
}

/** Maximum number of pages without a form: each page is a click or two away. */
const SHORT = 3

type AnyPageProps = { readonly visit: Visit; readonly page: number; readonly last: number }

/** A form for the number of any page of the list, which keeps the filters of the address. */
const AnyPage = ({ visit, page, last }: AnyPageProps): Html => (
  <form class="to-page" action={hrefTo(visit, visit.path)} method="get">
    {[...visit.query]
      .filter(([name]) => name !== 'page')
      .map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    <label>
      <span safe>{visit.say({ en: 'Page', zh: '页码' })}</span>
      <input name="page" type="number" min="1" max={last} step="1" value={String(page)} required />
    </label>
    <button type="submit" safe>
      {visit.say({ en: 'Go', zh: '前往' })}
    </button>
  </form>
)

const countOf = ({ page, last, total }: Readonly<Record<'page' | 'last' | 'total', number>>): Text => {
  const rows = grouped(String(total))
  const [at, of] = [grouped(String(page)), grouped(String(last))]
  const pages = last === 1 ? { en: '', zh: '' } : { en: `Page ${at} of ${of} · `, zh: `第 ${at} / ${of} 页 · ` }
  return { en: `${pages.en}${counted(total, 'row')}`, zh: `${pages.zh}共 ${rows} 条` }
}
