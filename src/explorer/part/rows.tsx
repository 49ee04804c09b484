/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import type { Html, Visit } from '../page.ts'

/** A column: its head in both languages, its cells, and their layout. */
export type Column<R> = readonly [en: string, zh: string, cell: (row: R) => Html, layout?: Layout]

type Layout = {
  /** Whether cells are numbers, aligned by digits. */
  readonly isNumber?: boolean
  /** The place of the cell on a card; absent: below the first line, after the column's name. */
  readonly place?: Place
}

/**
 * The place of a cell when a narrow screen turns its row into a card. `lead` and `end` are the two ends of
 * the first line; the first column is `lead` by default. Other cells are below it, after the name of their
 * column: `bare` omits the name, `to` replaces it by an arrow. `base` is the last line. `wide` is not on a
 * card, since the linked page shows it.
 */
type Place = 'lead' | 'end' | 'bare' | 'to' | 'base' | 'wide'

type RowsProps<R> = {
  readonly visit: Pick<Visit, 'say'>
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  /** The text of an empty table; absent: the table is never empty. */
  readonly none?: Text
  /**
   * The name by which the script identifies the table when it refreshes the page; absent: the table is not refreshed.
   */
  readonly live?: string
  /** A table of a few short columns, which is never turned into cards. */
  readonly isNarrow?: boolean
}

/** A table. On a narrow screen each row becomes a card of a few lines, whose cells have the names of their columns. */
export const Rows = <R,>({ visit: { say }, columns, rows, none, live, isNarrow = false }: RowsProps<R>): Html =>
  rows.length === 0 ? (
    <p class="none" {...liveName(live)} safe>
      {none === undefined ? '' : say(none)}
    </p>
  ) : (
    <table class={isNarrow ? 'rows narrow' : 'rows cards'} {...liveName(live)}>
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

const liveName = (live: string | undefined) => (live === undefined ? {} : { 'data-live': live })

const placeOf = (layout: Layout | undefined, at: number): Place | undefined =>
  layout?.place ?? (at === 0 ? 'lead' : undefined)

const classOf = (layout: Layout | undefined, at: number): string | undefined => {
  const { isNumber = false } = layout ?? {}
  const names = [isNumber ? 'digits' : '', placeOf(layout, at) ?? '']
  return names.filter(each => each !== '').join(' ') || undefined
}
