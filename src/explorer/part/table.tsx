/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/define.ts'
import { countDecimals, grouped } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { Count, None } from './amount.tsx'
import { AllOfIt } from './text.tsx'

/** A column: its head in both languages, its cells, and their layout. */
export type Column<R> = readonly [en: string, zh: string, cell: (row: R) => Html, layout?: Layout]

/** `digits`: cells are numbers, aligned by digits. */
type Layout = Place | 'digits' | `digits ${Place}`

/**
 * The place of a cell when a narrow screen turns its row into a card. `lead` and `end` are the two ends of
 * the first line; the first column is `lead` by default. Other cells are below it, after the name of their
 * column: `bare` omits the name, `to` replaces it by an arrow. `base` is the last line. `wide` is not on a
 * card, since the linked page shows it.
 */
type Place = 'lead' | 'end' | 'bare' | 'to' | 'base' | 'wide'

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
  [en, zh, value, place]: readonly [en: string, zh: string, value: (row: R) => string | undefined, place?: Place],
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
  const all = grouped(String(total))
  const [en, zh] = [`The first ${shown} of ${all}.`, `共 ${all} 项，此处为前 ${shown} 项`]
  if (whole !== undefined)
    return (
      <p class="none">
        <span safe>{visit.say({ en, zh: `${zh}。` })}</span> <AllOfIt visit={visit} href={whole} />
      </p>
    )
  const rest = hasFile ? IN_FILE : visit.site.testKey === undefined ? WITH_KEY : BY_LINKS
  return (
    <p class="none" safe>
      {visit.say({ en: `${en} ${rest.en}`, zh: `${zh}；${rest.zh}。` })}
    </p>
  )
}

type FirstRowsProps<R> = RowsProps<R> & Pick<MoreProps, 'visit'> & { readonly most: number }

/** The first rows of a list in memory, and where to find the rest. */
export const FirstRows = <R,>({ most, ...table }: FirstRowsProps<R>): Html => (
  <>
    <Rows {...table} rows={table.rows.slice(0, most)} />
    <More visit={table.visit} shown={most} total={table.rows.length} />
  </>
)

const IN_FILE: Text = { en: 'The file above has all of them.', zh: '上方的文件包含全部' }
const WITH_KEY: Text = { en: 'With a key, the API gives all of them.', zh: '使用 API key 可通过 API 获取全部' }
const BY_LINKS: Text = {
  en: 'The data links at the foot of this page give all of them.',
  zh: '页面下方的数据链接包含全部',
}
