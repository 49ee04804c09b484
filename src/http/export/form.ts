import type { Export } from '#actions/export.ts'
import type { Rows } from '#actions/list/rows.ts'

/** The format and the file name of an export. Throws when its list cannot be sent in that format. */
export type ExportForm = (opened: Export) => FormattedExport

export type FormattedExport = {
  readonly serializer: RowSerializer
  readonly fileName: string
  /** Some rows have no line, so the number of rows is not the number of lines. */
  readonly isShorter?: true
}

/** The serialization of one export's rows, in order. The text says by itself where a whole list ends. */
export type RowSerializer = {
  readonly type: string
  readonly rows: (rows: Rows) => string
  /** The text after the last row; `rows`: the number of rows. */
  readonly tail: (rows: number) => string
}
