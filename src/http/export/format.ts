import type { Export } from '#actions/export.ts'
import { jsonRows, type Rows } from '#actions/list/rows.ts'
import type { ExportFormat, Options } from '#actions/request/options.ts'
import { writeJson } from '#chain/json.ts'
import { csvHead, csvRows } from './csv.ts'

/** How the rows of an export are written. */
export type Written = {
  readonly type: string
  /** Before the first row. */
  readonly head: string
  readonly rows: (rows: Rows) => string
  /** After the last row. */
  readonly tail: string
}

type Listed = Pick<Export, 'action' | 'columns' | 'total' | 'at'>

/** JSON text that a signer broke into lines, in one: within its strings a line break is always escaped. */
export const inOneLine = (row: string): string => (LINES.test(row) ? row.replaceAll(/[\r\n]/g, ' ') : row)
const LINES = /[\r\n]/

/** NDJSON ends with a line that tells that it is complete; CSV has no place for that. */
export const writtenAs: Readonly<
  Record<ExportFormat, (listed: Listed, options: Pick<Options, 'numbers'>) => Written>
> = {
  ndjson: ({ total, at }, options) => ({
    type: 'application/x-ndjson; charset=utf-8',
    head: '',
    rows: rows =>
      jsonRows(rows, options)
        .map(row => `${inOneLine(row)}\n`)
        .join(''),
    tail: `${writeJson({ complete: true, rows: total, block_height: String(at.height) })}\n`,
  }),
  csv: ({ action, columns }) => ({
    type: 'text/csv; charset=utf-8; header=present',
    head: csvHead(columns ?? [action.list ?? '']),
    rows: rows => csvRows(rows, columns),
    tail: '',
  }),
}
