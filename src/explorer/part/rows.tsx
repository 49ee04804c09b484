/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

export type Column<R> = {
  readonly head: string
  readonly cell: (row: R) => Html
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
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  /** What is said where there are none. */
  readonly none: string
  /** By this name the script finds the table again when it asks for the page anew; absent: it stays as it is. */
  readonly live?: string
  /** A table of few short columns, which stays one however little room there is. */
  readonly isNarrow?: boolean
}

/** A table. On a narrow screen each row becomes a card of a few lines, whose cells name their columns. */
export const Rows = <R,>({ columns, rows, none, live, isNarrow = false }: RowsProps<R>): Html =>
  rows.length === 0 ? (
    <p class="none" safe>
      {none}
    </p>
  ) : (
    <table
      class={isNarrow ? 'rows narrow' : 'rows cards'}
      {...(live === undefined ? {} : { 'data-live': live })}
    >
      <thead>
        <tr>
          {columns.map((column, at) => (
            <th scope="col" class={classOf(column, at)} safe>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr>
            {columns.map((column, at) => (
              <td
                data-head={placeOf(column, at) === undefined ? column.head : undefined}
                class={classOf(column, at)}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )

const placeOf = <R,>({ place }: Column<R>, at: number): Place | undefined =>
  place ?? (at === 0 ? 'lead' : undefined)

const classOf = <R,>(column: Column<R>, at: number): string | undefined => {
  const { isNumber = false, isSpare = false } = column
  const names = [isNumber ? 'digits' : '', placeOf(column, at) ?? '', isSpare ? 'spare' : '']
  return names.filter(each => each !== '').join(' ') || undefined
}
