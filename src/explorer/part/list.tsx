/** @jsxImportSource @kitajs/html */
import type { CallParameters } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import type { Download } from '../download/file.ts'
import { countDecimals, formatCountedNoun, formatGrouped } from '../format/amount.ts'
import { isNarrowed, toHref } from '../links.ts'
import type { Html, PageContent, Props, Visit } from '../page.ts'
import { Count, None, Place } from './amount.tsx'
import { Files } from './files.tsx'
import { Card, Note } from './section.tsx'
import { AllOfIt } from './text.tsx'

/** A column: its head in both languages, its cells, and their layout. */
export type Column<R> = readonly [en: string, zh: string, cell: (row: R) => Html, layout?: Layout]

/** `digits`: cells are numbers, aligned by digits. */
type Layout = CellPlace | 'digits' | `digits ${CellPlace}`

/**
 * The place of a cell when a narrow screen turns its row into a card. `lead` and `end` are the two ends of
 * the first line; the first column is `lead` by default. Other cells are below it, after the name of their
 * column: `bare` omits the name, `to` replaces it by an arrow. `base` is the last line. `wide` is not on a
 * card, since the linked page shows it.
 */
type CellPlace = 'lead' | 'end' | 'bare' | 'to' | 'base' | 'wide'

export type RowsProps<R> = {
  readonly visit: Pick<Visit, 'say'>
  /** `false`: a column that this table lacks. */
  readonly columns: readonly (Column<R> | false)[]
  readonly rows: readonly R[]
  /** The text of an empty table; absent: the table is never empty. */
  readonly none?: Text
  /**
   * The name by which the script identifies the table when it refreshes the page; absent: the table is not refreshed.
   */
  readonly live?: string | undefined
  /** A table of a few short columns, which is never turned into cards. */
  readonly isNarrow?: boolean
}

/** A table. On a narrow screen each row becomes a card of a few lines, whose cells have the names of their columns. */
export function Rows<R>({ visit: { say }, columns, rows, none, live, isNarrow = false }: RowsProps<R>): Html {
  if (rows.length === 0)
    return (
      <p class="none" data-live={live} safe>
        {none === undefined ? '' : say(none)}
      </p>
    )
  const shown = columns
    .filter(column => column !== false)
    .map(([en, zh, cell, layout], at) => ({
      head: say({ en, zh }),
      cell,
      name: at === 0 && (layout === undefined || layout === 'digits') ? `${layout ?? ''} lead`.trimStart() : layout,
    }))
  return (
    <table class={isNarrow ? 'rows narrow' : 'rows cards'} data-live={live}>
      <thead>
        <tr>
          {shown.map(({ head, name }) => (
            <th scope="col" class={name} safe>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr>
            {shown.map(({ head, cell, name }) => (
              <td data-head={isNarrow || (name ?? 'digits') !== 'digits' ? undefined : head} class={name}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A column of numbers with aligned decimal points. `value` undefined: the row has none. */
export function alignNumbers<R>(
  rows: readonly R[],
  [en, zh, value, place]: readonly [en: string, zh: string, value: (row: R) => string | undefined, place?: CellPlace],
): Column<R> {
  const decimals = countDecimals(rows.map(row => value(row) ?? ''))
  const cell = (row: R): Html => {
    const shown = value(row)
    return shown === undefined ? <None /> : <Count value={shown} decimals={decimals} />
  }
  return [en, zh, cell, place === undefined ? 'digits' : `digits ${place}`]
}

type MoreProps = {
  readonly visit: Pick<Visit, 'say' | 'site'>
  readonly shown: number
  readonly total: number
  /** Address of the whole list; absent: only the API and a file have it. */
  readonly whole?: string
  /** Whether the page offers a file of the whole list. */
  readonly hasFile?: boolean
}

/** A note on where to find the rest of a truncated list. */
export function More({ visit, shown, total, whole, hasFile = false }: MoreProps): Html {
  if (total <= shown) return ''
  const all = formatGrouped(String(total))
  const [en, zh] = [`The first ${shown} of ${all}.`, `共 ${all} 项，此处为前 ${shown} 项`]
  if (whole !== undefined)
    return (
      <p class="none">
        <span safe>{visit.say({ en, zh: `${zh}。` })}</span> <AllOfIt visit={visit} href={whole} />
      </p>
    )
  const rest = hasFile ? IN_FILE : visit.site.testKey === undefined ? WITH_KEY : BY_LINKS
  return <Note visit={visit} text={{ en: `${en} ${rest.en}`, zh: `${zh}；${rest.zh}。` }} />
}

type FirstRowsProps<R> = RowsProps<R> & Pick<MoreProps, 'visit'> & { readonly most: number }

/** The first rows of a list in memory, and where to find the rest. */
export const FirstRows = <R,>({ most, ...table }: FirstRowsProps<R>): Html => (
  <>
    <Rows {...table} rows={table.rows.slice(0, most)} />
    <More visit={table.visit} shown={most} total={table.rows.length} />
  </>
)

type FoldedRowsProps<R> = Omit<FirstRowsProps<R>, 'most'> & {
  readonly title: Text
  /** Maximum number of displayed rows; absent: all. */
  readonly most?: number
  readonly isOpen?: boolean
  /** The text below the table. */
  readonly children?: Html
}

/** A collapsible table within a section. */
export function FoldedRows<R>(props: FoldedRowsProps<R>): Html {
  const { title, most = Number.POSITIVE_INFINITY, isOpen = false, children = '', ...table } = props
  return (
    <details class="inner" open={isOpen}>
      <summary safe>{table.visit.say(title)}</summary>
      <FirstRows {...table} most={most} />
      {children as 'safe'}
    </details>
  )
}

const IN_FILE: Text = { en: 'The file above has all of them.', zh: '上方的文件包含全部' }
const WITH_KEY: Text = { en: 'With a key, the API gives all of them.', zh: '使用 API key 可通过 API 获取全部' }
const BY_LINKS: Text = {
  en: 'The data links at the foot of this page give all of them.',
  zh: '页面下方的数据链接包含全部',
}

const PAGE_SIZE = 25

/** The requested page of a list, as parameters of the API. */
export const readGivenPage = ({ query }: Pick<Visit, 'query'>): { readonly page: string; readonly size: string } => ({
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
export function findPageInstead(
  visit: Pick<Visit, 'query'>,
  given: CallParameters,
  answer: unknown,
): number | undefined {
  const isOfAddress = given['page'] === visit.query.get('page') && given['size'] === String(PAGE_SIZE)
  const total = isOfAddress ? (answer as { readonly total?: unknown } | null)?.total : undefined
  if (typeof total !== 'number') return undefined
  const last = countPages(total)
  return parsePageNumber(visit) > last ? last : undefined
}

/** The path of another page of the list, with the other parameters of the address. */
export function formatPageNumberPath({ path, query }: Pick<Visit, 'path' | 'query'>, page: number): string {
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
  const to = (number: number): string => toHref(visit, formatPageNumberPath(visit, number))
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
  const rows = formatGrouped(String(total))
  const [at, of] = [formatGrouped(String(page)), formatGrouped(String(last))]
  const pages = last === 1 ? { en: '', zh: '' } : { en: `Page ${at} of ${of} · `, zh: `第 ${at} / ${of} 页 · ` }
  return { en: `${pages.en}${formatCountedNoun(total, 'row')}`, zh: `${pages.zh}共 ${rows} 条` }
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
export const createListPage = <R,>(
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
