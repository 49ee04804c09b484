import { Exact, type ExactJson, parseExact, writeJson } from '#chain/json.ts'
import { prettyJson } from './pretty.ts'

/** Lines of an example answer that a page shows. */
const MOST_LINES = 60
/** Rows that are left where there are too many, the most that fit. */
const ROWS = [20, 10, 5, 3, 2, 1]
/** Contracts and their code are texts of any length. */
const MOST_LETTERS = 200

/** An example as it is shown: valid JSON, whole but for rows and the ends of long texts. */
export type ShownExample = { readonly text: string; readonly isShorter: boolean }

/**
 * A JSON text in lines. Where it has more than `MOST_LINES`, each list keeps the same number of first rows, so that what
 * stands behind them, such as page, size and total, is shown as well.
 */
export const exampleText = (json: string): ShownExample => {
  const whole = parseExact(json)
  let text = ''
  for (const rows of [Number.POSITIVE_INFINITY, ...ROWS]) {
    text = prettyJson(writeJson(withRows(whole, rows)))
    if (text.split('\n').length <= MOST_LINES) break
  }
  return { text, isShorter: text !== prettyJson(json) }
}

const withRows = (value: ExactJson, rows: number): ExactJson => {
  if (typeof value === 'string')
    return value.length > MOST_LETTERS ? `${value.slice(0, MOST_LETTERS).toWellFormed()}…` : value
  if (value === null || typeof value !== 'object' || value instanceof Exact) return value
  if (isList(value)) return value.slice(0, rows).map(each => withRows(each, rows))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withRows(each, rows)]))
}

const isList = (value: object): value is readonly ExactJson[] => Array.isArray(value)
