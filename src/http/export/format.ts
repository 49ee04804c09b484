import type { Export } from '#actions/export.ts'
import { linesOf, type Rows } from '#actions/list/rows.ts'
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

/** NDJSON ends with a line that tells that it is complete; CSV has no place for that. */
export const writtenAs: Readonly<
  Record<ExportFormat, (listed: Listed, options: Pick<Options, 'numbers'>) => Written>
> = {
  ndjson: ({ total, at }, options) => ({
    type: 'application/x-ndjson; charset=utf-8',
    head: '',
    rows: rows =>
      linesOf(rows, options)
        .map(line => `${line}\n`)
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
