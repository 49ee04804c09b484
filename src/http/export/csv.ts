import type { Rows } from '#actions/list/rows.ts'
import { Exact, RawJson, writeJson } from '#chain/json.ts'

/** The line end of RFC 4180. */
const END = '\r\n'

/** A line with the names of fields. */
export const csvHead = (columns: readonly string[]): string => `${columns.map(quoted).join(',')}${END}`

/**
 * Rows as lines of RFC 4180: texts unchanged, numbers with all digits, arrays and objects as JSON text, an
 * empty cell for a field that is absent or null. `columns` undefined: each row is one value.
 */
export const csvRows = ({ rows, data }: Rows, columns: readonly string[] | undefined): string => {
  let text = ''
  for (const [at, row] of rows.entries()) {
    if (columns === undefined) {
      text += alone(cellOf(row)) + END
      continue
    }
    const fields = row as Readonly<Record<string, unknown>>
    let line = ''
    for (let column = 0; column < columns.length; column++) {
      const name = columns[column] ?? ''
      if (column > 0) line += ','
      line += cellOf(name === 'data' && data !== undefined ? data[at] : fields[name])
    }
    text += (columns.length === 1 ? alone(line) : line) + END
  }
  return text
}

/** Rows of cells as lines of RFC 4180. */
export const csvTable = (rows: readonly (readonly unknown[])[]): string =>
  rows.map(cells => `${alone(cells.map(cellOf).join(','))}${END}`).join('')

/** A single empty cell is quoted, since an empty line is not a record. */
const alone = (line: string): string => (line === '' ? '""' : line)

const cellOf = (value: unknown): string => {
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
