import type { Export } from '#actions/export.ts'
import type { Rows } from '#actions/list/rows.ts'

/** How an export is written and called. Throws where its list is not sent so. */
export type Form = (opened: Export) => Formed

export type Formed = {
  readonly written: Written
  readonly fileName: string
  /** Some rows have no line, so that the number of rows would say nothing of them. */
  readonly isShorter?: true
}

/** How the rows of an export are written. */
export type Written = {
  readonly type: string
  /** Before the first row. */
  readonly head: string
  readonly rows: (rows: Rows) => string
  /** What follows the last row; `rows`: how many there were. */
  readonly tail: (rows: number) => string
}
