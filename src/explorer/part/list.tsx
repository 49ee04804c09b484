/** @jsxImportSource @kitajs/html */
import type { CallParameters } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { type Download, MAX_ROWS } from '../download/file.ts'
import { findWorkingPeriods, isSearchWithinFile, isWithinFile, narrowQuery } from '../download/working-periods.ts'
import { counted, grouped, toUnits } from '../format/amount.ts'
import { isNarrowed, toHref } from '../links.ts'
import type { Html, PageContent, Props, Visit } from '../page.ts'
import { Place } from './amount.tsx'
import { Card, Note } from './section.tsx'
import { type Column, Rows, type RowsProps } from './table.tsx'

const PAGE_SIZE = 25

/** The requested page of a list, as parameters of the API. */
export const pageGiven = ({ query }: Pick<Visit, 'query'>): { readonly page: string; readonly size: string } => ({
  page: query.get('page') || '1',
  size: String(PAGE_SIZE),
})

/** The number of the requested page; 1 if the parameter is not a whole number. */
function parsePageNumber({ query }: Pick<Visit, 'query'>): number {
  const page = query.get('page') ?? ''
  return /^\d+$/.test(page) ? Math.max(1, Number(page)) : 1
}

const countPages = (total: number): number => Math.max(1, Math.ceil(total / PAGE_SIZE))

/** The rows of the requested page, or of the last one if it is beyond the end, of a list in memory. */
export function selectPageRows<R>(visit: Pick<Visit, 'query'>, rows: readonly R[]): readonly R[] {
  const page = Math.min(countPages(rows.length), parsePageNumber(visit))
  return rows.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
}

/**
 * The last page of a list, if the requested page is beyond it. The list may have had that page before, and
 * its visitors see the end of the list instead of an empty page. undefined: the page exists, or the call is
 * not for the page of the address.
 */
export function lastInstead(visit: Pick<Visit, 'query'>, given: CallParameters, answer: unknown): number | undefined {
  const isOfAddress = given['page'] === visit.query.get('page') && given['size'] === String(PAGE_SIZE)
  const total = isOfAddress ? (answer as { readonly total?: unknown } | null)?.total : undefined
  if (typeof total !== 'number') return undefined
  const last = countPages(total)
  return parsePageNumber(visit) > last ? last : undefined
}

/** The path of another page of the list, with the other parameters of the address. */
export function pathOfPage({ path, query }: Pick<Visit, 'path' | 'query'>, page: number): string {
  const other = new URLSearchParams(query)
  if (page === 1) other.delete('page')
  else other.set('page', String(page))
  return `${path}${formatSearch(other)}`
}

/** The query of an address with its question mark; `""` for an empty one. */
export function formatSearch(query: URLSearchParams): string {
  return query.size === 0 ? '' : `?${query}`
}

/** The rows of the current page with their ranks in the whole list, from 1. */
export function rankRows<R>(visit: Pick<Visit, 'query'>, rows: readonly R[]): readonly (R & Ranked)[] {
  const before = (parsePageNumber(visit) - 1) * PAGE_SIZE
  return rows.map((row, at) => ({ ...row, rank: before + at + 1 }))
}

type Ranked = { readonly rank: number }

/** The first column of a sorted list. */
export const RANK_COLUMN: Column<Ranked> = ['Rank', '排名', ({ rank }) => <Place value={rank} />]

/** Links to the other pages of a list. `total`: number of rows. */
export function Pager({ visit, total }: Props<{ total: number }>): Html {
  const last = countPages(total)
  const page = Math.min(last, parsePageNumber(visit))
  const to = (number: number): string => toHref(visit, pathOfPage(visit, number))
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
        {visit.say(formatRowCount({ page, last, total }))}
      </p>
    )
  return (
    <nav class="pager" aria-label={visit.say({ en: 'Pages', zh: '分页' })}>
      <span safe>{visit.say(formatRowCount({ page, last, total }))}</span>
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

/** A form for the number of any page of the list, which keeps the filters of the address. */
const AnyPage = ({ visit, page, last }: Props<{ page: number; last: number }>): Html => (
  <form class="to-page" action={toHref(visit, visit.path)} method="get">
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

function formatRowCount({ page, last, total }: Readonly<Record<'page' | 'last' | 'total', number>>): Text {
  const rows = grouped(String(total))
  const [at, of] = [grouped(String(page)), grouped(String(last))]
  const pages = last === 1 ? { en: '', zh: '' } : { en: `Page ${at} of ${of} · `, zh: `第 ${at} / ${of} 页 · ` }
  return { en: `${pages.en}${counted(total, 'row')}`, zh: `${pages.zh}共 ${rows} 条` }
}

type FilesProps = {
  readonly visit: Visit
  readonly file: Download
  /** The canonical name of the file's subject; absent: the path contains it. */
  readonly id?: string
  /** Number of rows that match the address; null: unknown. */
  readonly total: number | null
  /** Whether the page shows any of these rows. */
  readonly hasRows?: boolean
}

/**
 * Links to the list of a page as files that work: the current selection, and, for a list with a range of time, the
 * common periods with the same filters. Empty for an empty list.
 */
export async function Files({ visit, file, id = '', total, hasRows = total !== 0 }: FilesProps): Promise<string> {
  if (!hasRows) return ''
  const { say } = visit
  const to = (query: URLSearchParams): string => {
    const text = query.toString()
    return toHref(visit, `${file.path.replace('{id}', encodeURIComponent(id))}${text === '' ? '' : `?${text}`}`)
  }
  const of = { file, id }
  const isWhole = total === null ? await isSearchWithinFile(visit, of) : isWithinFile(total)
  const periods = total === null ? [] : await findWorkingPeriods(visit, of)
  return (
    <p class="files">
      <span safe>{say({ en: 'Download as CSV:', zh: '下载 CSV：' })}</span>{' '}
      {isWhole ? (
        <a href={to(narrowQuery(visit, file))} rel="nofollow" safe>
          {say(shownRows(total))}
        </a>
      ) : (
        <span safe>
          {say(total === null ? uncounted() : beyond(total, periods.length > 0 || file.narrowedBy.includes('from')))}
        </span>
      )}
      {periods.map(period => (
        <>
          {' '}
          <a href={to(narrowQuery(visit, file, period))} rel="nofollow" safe>
            {say(period.name)}
          </a>
        </>
      ))}
    </p>
  )
}

function shownRows(total: number | null): Text {
  if (total === null) return { en: 'All matching rows', zh: '符合条件的全部记录' }
  const rows = grouped(String(total))
  return { en: total === 1 ? 'This row' : `These ${rows} rows`, zh: `当前列表（${rows} 条）` }
}

/** `isShorter`: the page offers a shorter period, or its form does. */
function beyond(total: number, isShorter: boolean): Text {
  const [rows, most] = [grouped(String(total)), grouped(String(MAX_ROWS))]
  const shorter = isShorter ? { en: 'choose a shorter period, or ', zh: '选择较短的区间，或' } : { en: '', zh: '' }
  return {
    en: `this list has ${rows} rows, and a file at most ${most}; ${shorter.en}use the API with a key.`,
    zh: `当前列表共 ${rows} 条，超过单个文件的上限 ${most} 条；请${shorter.zh}使用 API key 通过 API 获取。`,
  }
}

/** The rows that pass the filters are only known once all have been searched. */
function uncounted(): Text {
  const most = grouped(String(MAX_ROWS))
  return {
    en: `the list has too many rows to know whether those that pass the filters fit into a file of ${most}; choose a shorter period, or use the API with a key.`,
    zh: `列表过长，无法确定符合条件的记录是否超过单个文件的上限 ${most} 条；请选择较短的区间，或使用 API key 通过 API 获取。`,
  }
}

/** A sort order of a list: its name in the address, its label, and the figure of a row by which it sorts. */
export type SortOrder<R> = {
  readonly by: string
  readonly name: Text
  /** A decimal; rows are sorted by it in descending order. */
  readonly figure: (row: R) => string | number
}

/** The requested order; undefined: the default order of the list. */
export const orderGiven = <R,>(
  { query }: Pick<Visit, 'query'>,
  orders: readonly SortOrder<R>[],
): SortOrder<R> | undefined => orders.find(({ by }) => by === query.get('by'))

/** Rows by a figure, in descending order. The sort is stable. */
export function ordered<R>(rows: readonly R[], { figure }: SortOrder<R>): readonly R[] {
  const keyed = rows.map(row => ({ row, key: toUnits(String(figure(row))) }))
  return keyed.sort((one, other) => (one.key === other.key ? 0 : one.key < other.key ? 1 : -1)).map(({ row }) => row)
}

type SortsProps = {
  readonly visit: Visit
  /** The label of the list's default order. */
  readonly own: Text
  readonly orders: readonly Pick<SortOrder<never>, 'by' | 'name'>[]
}

/** Links to the other sort orders of a list. */
export function Sorts({ visit, own, orders }: SortsProps): Html {
  const { say, path, query } = visit
  const chosen = orders.find(({ by }) => by === query.get('by'))?.by
  const all = [{ by: undefined, name: own }, ...orders]
  return (
    <nav class="sorts" aria-label={say({ en: 'Order', zh: '排序' })}>
      <span safe>{say({ en: 'Sort by: ', zh: '排序：' })}</span>
      {all.map(({ by, name }) => (
        <>
          {' '}
          <a
            href={toHref(visit, by === undefined ? path : `${path}?by=${by}`)}
            aria-current={by === chosen ? 'true' : undefined}
            safe
          >
            {say(name)}
          </a>
        </>
      ))}
    </nav>
  )
}

type ListProps<R> = Omit<RowsProps<R>, 'visit'> & {
  readonly visit: Visit
  /** Number of rows in the whole list. */
  readonly total: number
  /** The file with the whole list; absent: there is none. */
  readonly file?: Download
  /** The canonical name of the file's subject; absent: the path contains it. */
  readonly id?: string
}

/** The requested page of a list: links to the file, the rows, and links to the other pages. */
export const List = <R,>({ file, id = '', ...list }: ListProps<R>): Html => (
  <>
    {file !== undefined && <Files visit={list.visit} file={file} id={id} total={list.total} />}
    <Rows {...list} />
    <Pager visit={list.visit} total={list.total} />
  </>
)

/** A section of a page with one list. `section`: the id of its title. */
export const ListCard = <R,>({ section, title, ...list }: ListProps<R> & SectionNames): Html => (
  <Card visit={list.visit} id={section} title={title}>
    <List {...list} />
  </Card>
)

type SectionNames = { readonly section: string; readonly title: Text }

type ListPage<R> = Omit<ListProps<R>, 'visit'> & {
  readonly title: Text
  /** A sentence with the contents of the list and their order. */
  readonly lead: Text
  readonly description?: Text
  readonly above?: Html
}

/** A page with one list. Search engines may index only its first page. */
export const listPage = <R,>(
  visit: Visit,
  { title, lead, description = title, above = '', ...list }: ListPage<R>,
): PageContent => ({
  title: visit.say(title),
  description: visit.say(description),
  isMinor: isNarrowed(visit, ['page']),
  body: (
    <>
      <h1 safe>{visit.say(title)}</h1>
      <Note visit={visit} kind="about" text={lead} />
      {above as 'safe'}
      <section class="card">
        <List visit={visit} {...list} />
      </section>
    </>
  ),
})
