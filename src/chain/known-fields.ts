import { compactJson, elementSpans, memberSpans, type Span } from './json-text.ts'

/** The members that a value has: by name, `undefined` where whatever stands there is taken as it is; a list: of each entry. */
type Shape = { readonly [name: string]: Shape | readonly [Shape] | undefined }

const plain = (...names: readonly string[]): Shape => Object.fromEntries(names.map(name => [name, undefined]))

/** A transaction of the node's JSON (go-iost rpc/pb, Transaction). */
const TRANSACTION: Shape = {
  ...plain('hash', 'time', 'expiration', 'gas_ratio', 'gas_limit', 'delay', 'chain_id'),
  ...plain('signers', 'publisher', 'referred_tx'),
  actions: [plain('contract', 'action_name', 'data')],
  amount_limit: [plain('token', 'value')],
  tx_receipt: {
    ...plain('tx_hash', 'gas_usage', 'ram_usage', 'status_code', 'message', 'returns'),
    receipts: [plain('func_name', 'content')],
  },
}

const isList = (shape: Shape | readonly [Shape]): shape is readonly [Shape] => Array.isArray(shape)

const fits = (value: unknown, shape: Shape | readonly [Shape] | undefined): boolean => {
  if (shape === undefined || typeof value !== 'object' || value === null) return true
  if (isList(shape)) return !Array.isArray(value) || value.every(entry => fits(entry, shape[0]))
  for (const name in value) {
    if (!Object.hasOwn(shape, name)) return false
    const own = shape[name]
    if (own !== undefined && !fits((value as Record<string, unknown>)[name], own)) return false
  }
  return true
}

const written = (text: string, span: Span, shape: Shape | readonly [Shape] | undefined): string => {
  const first = text[span[0]] ?? ''
  if (first === '[') {
    const each = shape !== undefined && isList(shape) ? shape[0] : undefined
    return `[${elementSpans(text, span[0])
      .map(entry => written(text, entry, each))
      .join(',')}]`
  }
  if (first === '{') {
    const known = shape === undefined || isList(shape) ? undefined : shape
    const members = [...memberSpans(text, span[0])].filter(
      ([name]) => known === undefined || Object.hasOwn(known, name),
    )
    return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${written(text, each, known?.[name])}`).join(',')}}`
  }
  const value = compactJson(text, span)
  // A number has one spelling: digits that a double does not have are hashed by nobody.
  return /[-0-9]/.test(first) ? String(Number(value)) : value
}

/**
 * The text of a transaction object at `span`, compact, texts character by character; `value` is the same, parsed. What no hash
 * covers is left out, as nobody could say whether it is so: members that nothing is known of, all but the last of those
 * with one name, digits beyond a double's.
 */
export const transactionText = (text: string, span: Span, value: unknown): string => {
  const compact = compactJson(text, span)
  return fits(value, TRANSACTION) && compact === JSON.stringify(value)
    ? compact
    : written(text, span, TRANSACTION)
}
