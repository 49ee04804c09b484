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
  const first = text[span[0]]
  if (shape === undefined || (first !== '{' && first !== '[')) return compactJson(text, span)
  if (isList(shape))
    return `[${elementSpans(text, span[0])
      .map(each => written(text, each, shape[0]))
      .join(',')}]`
  const members = [...memberSpans(text, span[0])].filter(([name]) => Object.hasOwn(shape, name))
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${written(text, each, shape[name])}`).join(',')}}`
}

/**
 * The text of a transaction object at `span`, compact, letter by letter; `value` is the same, parsed. Members that nothing
 * is known of are left out: no hash covers them, so nobody could say whether they are so.
 */
export const transactionText = (text: string, span: Span, value: unknown): string =>
  fits(value, TRANSACTION) ? compactJson(text, span) : written(text, span, TRANSACTION)
