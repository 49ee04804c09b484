/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

export type Column<R> = {
  readonly head: string
  readonly cell: (row: R) => Html
  /** Digits stand under digits. */
  readonly isNumber?: boolean
}

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

/** A table. Where there is little room each row becomes a card, whose cells name their column. */
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
          {columns.map(({ head, isNumber }) => (
            <th scope="col" class={isNumber === true ? 'digits' : undefined} safe>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr>
            {columns.map(({ head, cell, isNumber }) => (
              <td data-head={head} class={isNumber === true ? 'digits' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
