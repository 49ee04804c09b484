/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

export type Column<R> = {
  readonly head: string
  readonly cell: (row: R) => Html
  /** Digits stand under digits. */
  readonly isNumber?: boolean
  /** Where there is little room; absent: beside others below the first line, after the column's name. */
  readonly place?: Place
  /** Left out of a table that has little room, though not of a card. */
  readonly isSpare?: boolean
}

/**
 * On the first line of a row that has become a card, at its begin (`lead`, as the first column is without being told) or
 * its end; `bare` and `to`, behind an arrow, below that line like all others, but without the column's name; `base`
 * is on the last line; `wide` is not on a card, as the page that the row leads to has it.
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

/** A table. Where there is little room each row becomes a card of few lines, whose cells name their column. */
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
