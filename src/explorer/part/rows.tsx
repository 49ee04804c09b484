/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import type { Html, Visit } from '../page.ts'

/** A column: its head in both languages, its cells, and how they are laid out. */
export type Column<R> = readonly [en: string, zh: string, cell: (row: R) => Html, layout?: Layout]

type Layout = {
  /** Digits stand under digits. */
  readonly isNumber?: boolean
  /** Where the cell stands on a card; absent: below the first line, after the column's name. */
  readonly place?: Place
  /** Left out of a table on a screen of middle width; cards show it. */
  readonly isSpare?: boolean
}

/**
 * Where a cell stands when a narrow screen turns its row into a card. `lead` and `end` are the two ends of the first line;
 * the first column is `lead` by default. Other cells stand below it, after the name of their column: `bare` leaves the name
 * out, `to` puts an arrow in its place. `base` is the last line. `wide` is not on a card: the page that the row links to has it.
 */
type Place = 'lead' | 'end' | 'bare' | 'to' | 'base' | 'wide'

type RowsProps<R> = {
  readonly visit: Pick<Visit, 'say'>
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  /** The text of an empty table; absent: the table is never empty. */
  readonly none?: Text
  /** By this name the script finds the table again when it asks for the page anew; absent: it stays as it is. */
  readonly live?: string
  /** A table of few short columns, which stays one however little room there is. */
  readonly isNarrow?: boolean
}

/** A table. On a narrow screen each row becomes a card of a few lines, whose cells name their columns. */
export const Rows = <R,>({
  visit: { say },
  columns,
  rows,
  none,
  live,
  isNarrow = false,
}: RowsProps<R>): Html =>
  rows.length === 0 ? (
    <p class="none" safe>
      {none === undefined ? '' : say(none)}
    </p>
  ) : (
    <table
      class={isNarrow ? 'rows narrow' : 'rows cards'}
      {...(live === undefined ? {} : { 'data-live': live })}
    >
      <thead>
        <tr>
          {columns.map(([en, zh, , layout], at) => (
            <th scope="col" class={classOf(layout, at)} safe>
              {say({ en, zh })}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr>
            {columns.map(([en, zh, cell, layout], at) => (
              <td
                data-head={isNarrow || placeOf(layout, at) !== undefined ? undefined : say({ en, zh })}
                class={classOf(layout, at)}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )

const placeOf = (layout: Layout | undefined, at: number): Place | undefined =>
  layout?.place ?? (at === 0 ? 'lead' : undefined)

const classOf = (layout: Layout | undefined, at: number): string | undefined => {
  const { isNumber = false, isSpare = false } = layout ?? {}
  const names = [isNumber ? 'digits' : '', placeOf(layout, at) ?? '', isSpare ? 'spare' : '']
  return names.filter(each => each !== '').join(' ') || undefined
}
