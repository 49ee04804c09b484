import { Exact, RawJson } from '#chain/json.ts'
import { compactJson, memberSpans, type TextSpan } from '#chain/json-text.ts'
import { plainNumber } from './values.ts'

/** Fields that the node writes as strings and the interface as numbers. */
const NUMBERS_IN_TEXT = new Set(['delay', 'expiration'])
const GAS = new Set(['gas_ratio', 'gas_limit', 'gas_usage'])

/**
 * The node's transaction object in the form of an answer. Its fields and their order, and every string, stay
 * unchanged. delay and expiration become numbers, and gas figures keep their digits. The receipt of a
 * transaction in the pool is `{}`.
 */
export const transactionObject = (body: string): ReadonlyMap<string, unknown> =>
  parseMembers(body, [0, body.length], (name, span) => {
    if (name !== 'tx_receipt') return parseField(body, name, span)
    return body.slice(...span) === 'null' ? {} : parseMembers(body, span, (key, at) => parseField(body, key, at))
  })

const parseMembers = (
  text: string,
  [from]: TextSpan,
  readField: (name: string, span: TextSpan) => unknown,
): ReadonlyMap<string, unknown> =>
  new Map([...memberSpans(text, from)].map(([name, span]) => [name, readField(name, span)]))

function parseField(body: string, name: string, span: TextSpan): unknown {
  const text = compactJson(body, span)
  if (NUMBERS_IN_TEXT.has(name)) return new Exact(text.replaceAll('"', ''))
  return GAS.has(name) ? new Exact(plainNumber(text)) : new RawJson(text)
}
