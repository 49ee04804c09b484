import { Exact, type ExactJson, parseExact, writeJson } from '#chain/json.ts'
import { prettyJson } from './pretty.ts'

/** Maximum lines of an example answer on a page. */
const MAX_LINES = 60
/** Rows to keep when there are too many: the largest number that fits. */
const ROWS = [20, 10, 5, 3, 2, 1]
/** Maximum length of a text. Contracts and their code are of any length. */
const MAX_LETTERS = 200

/** An example to show: valid JSON, complete except for rows and the ends of long texts. */
export type ShownExample = { readonly text: string; readonly isShorter: boolean }

/**
 * A formatted JSON text. If it has more than `MAX_LINES`, each list is limited to the same number of first
 * rows, so that the fields after it, such as page, size and total, are shown as well.
 */
export function exampleText(json: string): ShownExample {
  const whole = parseExact(json)
  let text = ''
  for (const rows of [Number.POSITIVE_INFINITY, ...ROWS]) {
    text = prettyJson(writeJson(withRows(whole, rows)))
    if (text.split('\n').length <= MAX_LINES) break
  }
  return { text, isShorter: text !== prettyJson(json) }
}

function withRows(value: ExactJson, rows: number): ExactJson {
  if (typeof value === 'string')
    return value.length > MAX_LETTERS ? `${value.slice(0, MAX_LETTERS).toWellFormed()}…` : value
  if (value === null || typeof value !== 'object' || value instanceof Exact) return value
  if (isList(value)) return value.slice(0, rows).map(each => withRows(each, rows))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withRows(each, rows)]))
}

const isList = (value: object): value is readonly ExactJson[] => Array.isArray(value)
