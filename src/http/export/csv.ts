import type { Export } from '#actions/export.ts'
import type { Book, Rows } from '#actions/find/listing.ts'
import { Exact, RawJson, writeJson } from '#chain/json.ts'
import { fileStem, textCell } from '#explorer/download/file.ts'

/** The format and the file name of an export. Throws when its list cannot be sent in that format. */
export type ExportForm = (opened: Export) => FormattedExport

export type FormattedExport = {
  readonly serializer: RowSerializer
  readonly fileName: string
  /** Some rows have no line, so the number of rows is not the number of lines. */
  readonly leavesRowsOut?: true
}

/** The serialization of one export's rows, in order. The text says by itself where a whole list ends. */
export type RowSerializer = {
  readonly type: string
  readonly rows: (rows: Rows) => string
  /** The text after the last row; `rows`: the number of rows. */
  readonly tail: (rows: number) => string
}

/** The line end of RFC 4180. */
const END = '\r\n'

/**
 * The last column of every file. It is empty but in the last line, where it has the number of lines below the names
 * of columns: a file that was cut has no such line. A line of its own would be a row to the programs that read files,
 * and hledger refuses it; a column that a program does not know is left alone.
 */
const COMPLETE = 'complete_rows'

/** A list as a file: the names of columns, and the lines of some rows. */
type CsvFile = {
  readonly heads: readonly string[]
  readonly linesOf: (rows: Rows) => readonly string[]
  /** What comes before the first line. */
  readonly mark?: string
  /** The name of the last column, for people. */
  readonly complete?: string
}

/**
 * A file of RFC 4180. A line is sent when the next one is known, since only the last one has the number of lines. The
 * names of columns go with the first line, or at the end: alone they are a whole file without rows.
 */
export function csvSerializer({ heads, linesOf, mark = '', complete = COMPLETE }: CsvFile): RowSerializer {
  let lines = 0
  let before = mark + [...heads, complete].map(quoted).join(',')
  return {
    type: 'text/csv; charset=utf-8; header=present',
    rows: rows => {
      let text = ''
      for (const line of linesOf(rows)) {
        text += lines === 0 ? `${before}${END}` : `${before},${END}`
        before = line
        lines += 1
      }
      return text
    },
    tail: () => (lines === 0 ? `${before}${END}` : `${before},${lines}${END}`),
  }
}

/**
 * Rows as lines of RFC 4180, without their ends: texts unchanged, numbers with all digits, arrays and objects as JSON
 * text, an empty cell for a field that is absent or null. `columns` undefined: each row is one value.
 */
export const csvLines = ({ rows, data }: Rows, columns: readonly string[] | undefined): readonly string[] =>
  rows.map((row, at) => {
    if (columns === undefined) return formatCell(row)
    const fields = row as Readonly<Record<string, unknown>>
    let line = ''
    for (let column = 0; column < columns.length; column++) {
      const name = columns[column] ?? ''
      if (column > 0) line += ','
      line += formatCell(name === 'data' && data !== undefined ? data[at] : fields[name])
    }
    return line
  })

/** A line of cells, without its end. */
export const csvLine = (cells: readonly unknown[]): string => cells.map(formatCell).join(',')

function formatCell(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value)
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'undefined':
      return ''
    default:
      if (value === null) return ''
      if (value instanceof Exact) return value.text
      return quoted(value instanceof RawJson ? value.text : writeJson(value))
  }
}

/** Characters that need quotes in a cell. */
const SPECIAL = /[",\r\n]/

const quoted = (text: string): string => (SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/**
 * A list in the columns of an accounting program, as a CSV file. No text in it is a formula that a
 * spreadsheet would run.
 */
export const bookForm = ({ heads, linesOf, names }: Book): FormattedExport => ({
  fileName: `${fileStem(names)}.csv`,
  leavesRowsOut: true,
  serializer: csvSerializer({
    heads,
    linesOf: rows =>
      linesOf(rows).map(line => csvLine(line.map(cell => (typeof cell === 'string' ? textCell(cell) : cell)))),
  }),
})
