import { RawJson, type WriteOptions, writeJson } from '#chain/json.ts'

/** Rows of an answer before they are written. */
export type Rows = {
  /** Objects with the fields of the answer, or single values. */
  readonly rows: readonly unknown[]
  /**
   * For each row the value of its field `data`, which is "" in the row: JSON text that is written unchanged, or a text.
   * The other fields are then what JSON.stringify writes. Absent: rows are as they are.
   */
  readonly data?: readonly (RawJson | string)[]
}

/** The rows as the value of a page. */
export const rowsValue = ({ rows, data }: Rows): unknown => {
  if (data === undefined) return rows
  // The native JSON.stringify takes an eighth of the time that a writer of our own needs.
  const [first = '', ...others] = JSON.stringify(rows).split(EMPTY_DATA)
  let text = first
  for (let at = 0; at < others.length; at += 1) {
    const own = data[at] ?? ''
    text += `"data":${typeof own === 'string' ? JSON.stringify(own) : own.text}${others[at]}`
  }
  return new RawJson(text)
}

/** Each row with its own data, for a list that is given whole. */
export const withOwnData = ({ rows, data }: Rows): readonly unknown[] =>
  data === undefined ? rows : rows.map((row, at) => ({ ...(row as object), data: data[at] ?? '' }))

/** Each row as JSON text. */
export const jsonRows = ({ rows, data }: Rows, options: WriteOptions = {}): readonly string[] => {
  if (data === undefined) return rows.map(row => writeJson(row, options))
  // Each row by itself: no mark between rows is safe, since a text may end with it and its closing quote stand for the next
  // row's first.
  return rows.map((row, at) => withData(JSON.stringify(row), jsonOf(data[at] ?? '')))
}

/** Within a string of JSON its quotes would be escaped, and only a key has a colon behind it: it stands only where a row has its data. */
const EMPTY_DATA = '"data":""'

/** Puts the data of a row in its place. */
const withData = (row: string, data: string): string => {
  const at = row.indexOf(EMPTY_DATA)
  return `${row.slice(0, at)}"data":${data}${row.slice(at + EMPTY_DATA.length)}`
}

const jsonOf = (data: RawJson | string): string =>
  typeof data === 'string' ? JSON.stringify(data) : data.text

/** Each row as JSON in one line. */
export const linesOf = (rows: Rows, options: WriteOptions): readonly string[] =>
  jsonRows(rows, options).map(inOneLine)

/** JSON text that a signer broke into lines, in one: within its strings a line break is always escaped. */
const inOneLine = (row: string): string => (LINES.test(row) ? row.replaceAll(/[\r\n]/g, ' ') : row)
const LINES = /[\r\n]/
