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
  /** The feed whose rows join these at the top, for the script. */
  readonly live?: string
}

/** A table. Where there is little room each row becomes a card, whose cells name their column. */
export const Rows = <R,>({ columns, rows, none, live }: RowsProps<R>): Html =>
  rows.length === 0 ? (
    <p class="none" safe>
      {none}
    </p>
  ) : (
    <table class="rows" {...(live === undefined ? {} : { 'data-live': live })}>
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
