import { Exact, RawJson } from '#chain/json.ts'
import { compactJson, memberSpans, type Span } from '#chain/json-text.ts'
import { plainNumber } from './values.ts'

/** Fields that the node writes as text and the interface as numbers. */
const NUMBERS_IN_TEXT = new Set(['delay', 'expiration'])
const GAS = new Set(['gas_ratio', 'gas_limit', 'gas_usage'])

/**
 * The node's transaction object as the interface shows it: its own fields in their own order and every text letter by
 * letter; delay and expiration are numbers, gas figures keep their digits. A transaction without a receipt yet (in the
 * pool) has `{}`.
 */
export const transactionObject = (body: string): ReadonlyMap<string, unknown> =>
  membersOf(body, [0, body.length], (name, span) => {
    if (name !== 'tx_receipt') return fieldOf(body, name, span)
    return body.slice(...span) === 'null' ? {} : membersOf(body, span, (key, at) => fieldOf(body, key, at))
  })

const membersOf = (
  text: string,
  [from]: Span,
  readField: (name: string, span: Span) => unknown,
): ReadonlyMap<string, unknown> =>
  new Map([...memberSpans(text, from)].map(([name, span]) => [name, readField(name, span)]))

const fieldOf = (body: string, name: string, span: Span): unknown => {
  const text = compactJson(body, span)
  if (NUMBERS_IN_TEXT.has(name)) return new Exact(text.replaceAll('"', ''))
  return GAS.has(name) ? new Exact(plainNumber(text)) : new RawJson(text)
}
