import { parseUnits } from './amount.ts'
import { base58Bytes } from './base58.ts'
import type { Transaction, TxReceipt } from './block.ts'
import { type Bound, HASH, IN_GENESIS, IN_TRANSACTION, OF_EXECUTION, RECEIPTS, WORD } from './bounds.ts'
import { compactJson, elementSpans, isCompactForm, memberSpans, type TextSpan } from './json.ts'
import {
  expectInt64,
  expectObject,
  getOptionalText,
  invalidValue,
  type JsonFields,
  overBound,
  type Path,
  parseAnswer,
  requireDecimal,
  requireInt64,
  requireInteger,
  requireList,
  requireObject,
  requireShortText,
  requireText,
  requireTexts,
} from './json-fields.ts'

/** Gas has two decimals: the node stores it as an integer × 100 and prints that divided by 100. */
const GAS_DECIMALS = 2

/**
 * Decodes a transaction object: its position in a JSON text, and its parsed value. `data`: bound of the data of an
 * action. Throws Failure 'bad_block' with the path of the invalid value.
 */
export function decodeWrittenTransaction(
  { text, span, value }: { readonly text: string; readonly span: TextSpan; readonly value: unknown },
  path: Path,
  data: Bound = IN_GENESIS,
): Transaction {
  expectObject(value, path)
  return decodeBodiedTransaction({ value, body: transactionText(text, span, value) }, path, data)
}

/** `decodeWrittenTransaction` for a text that `transactionText` made before. */
export function decodeBodiedTransaction(
  { value, body }: { readonly value: unknown; readonly body: string },
  path: Path,
  data: Bound = IN_GENESIS,
): Transaction {
  const fields = expectObject(value, path)
  const hash = requireText(fields, 'hash', path, HASH)
  const chainId = requireInteger(fields, 'chain_id', path)
  if (chainId < 0) throw invalidValue({ above: path, key: 'chain_id' }, chainId, 'a number from 0')
  const referredTx = getOptionalText(fields, 'referred_tx', path, HASH)
  // The hash covers the decoded bytes: a text that is not base58 would be hashed as if it were missing.
  if (base58Bytes(referredTx) === undefined)
    throw invalidValue({ above: path, key: 'referred_tx' }, referredTx, 'base58')
  return {
    hash,
    time: requireInt64(fields, 'time', path),
    expiration: requireInt64(fields, 'expiration', path),
    gasRatio: requireDecimal(fields, 'gas_ratio', path),
    gasLimit: requireDecimal(fields, 'gas_limit', path),
    delay: requireInt64(fields, 'delay', path),
    chainId,
    actions: requireList(fields, 'actions', path).map((value, index) => {
      const at = { above: { above: path, key: 'actions' }, key: index }
      const action = expectObject(value, at)
      return {
        contract: requireText(action, 'contract', at),
        actionName: requireText(action, 'action_name', at),
        data: requireText(action, 'data', at, data),
      }
    }),
    signers: requireTexts(fields, 'signers', path),
    publisher: requireText(fields, 'publisher', path),
    referredTx,
    amountLimit: decodeAmountLimits(fields, path),
    receipt: decodeTxReceipt(
      requireObject(fields, 'tx_receipt', path),
      { hash, body },
      { above: path, key: 'tx_receipt' },
    ),
    body,
  }
}

/** Decodes the text of one transaction object, such as a stored `body`. Throws Failure 'bad_block'. */
export const decodeTransaction = (text: string): Transaction =>
  decodeWrittenTransaction(
    { text, span: [0, text.length], value: parseAnswer(text, 'transaction') },
    { key: 'transaction' },
  )

/** `amount_limit` of a transaction or of an ABI. */
export const decodeAmountLimits = (fields: JsonFields, above: Path): Transaction['amountLimit'] =>
  requireList(fields, 'amount_limit', above).map((value, index) => {
    const path = { above: { above, key: 'amount_limit' }, key: index }
    const limit = expectObject(value, path)
    return { token: requireText(limit, 'token', path), value: requireText(limit, 'value', path) }
  })

function decodeTxReceipt(
  fields: JsonFields,
  { hash, body }: Pick<Transaction, 'hash' | 'body'>,
  path: Path,
): TxReceipt {
  const own = getOptionalText(fields, 'tx_hash', path, HASH)
  if (own !== '' && own !== hash) throw invalidValue({ above: path, key: 'tx_hash' }, own, `its transaction's, ${hash}`)
  return {
    gasUsage: decodeGasUsage(fields, path),
    ramUsage: decodeRamUsage(fields, body, path),
    statusCode: requireText(fields, 'status_code', path, WORD),
    message: requireText(fields, 'message', path, OF_EXECUTION),
    returns: requireTexts(fields, 'returns', path, OF_EXECUTION),
    receipts: requireList(fields, 'receipts', path, RECEIPTS).map((value, index) => {
      const at = { above: { above: path, key: 'receipts' }, key: index }
      const receipt = expectObject(value, at)
      return {
        funcName: requireText(receipt, 'func_name', at),
        content: requireText(receipt, 'content', at, OF_EXECUTION),
      }
    }),
  }
}

/** Gas × 100, from a receipt's `gas_usage`. More than two decimals are invalid. */
function decodeGasUsage(fields: JsonFields, above: Path): bigint {
  const text = requireDecimal(fields, 'gas_usage', above)
  const point = text.indexOf('.')
  if (point >= 0 && text.length - point - 1 > GAS_DECIMALS)
    throw invalidValue({ above, key: 'gas_usage' }, fields['gas_usage'], 'a number of at most two decimals')
  return parseUnits(text, GAS_DECIMALS) ?? 0n
}

/** A parsed object lists payers such as `12345` first, so the order is taken from the text. */
function decodeRamUsage(fields: JsonFields, body: string, above: Path): TxReceipt['ramUsage'] {
  const path = { above, key: 'ram_usage' }
  const usage = expectObject(fields['ram_usage'], path)
  const payers = Object.keys(usage)
  if (payers.length > IN_TRANSACTION.most) throw overBound(path, `${payers.length} payers`, IN_TRANSACTION)
  for (const payer of payers) requireShortText(payer, path, IN_TRANSACTION)
  const usedBy = (payer: string) => [payer, expectInt64(usage[payer], { above: path, key: payer })] as const
  if (!payers.some(payer => /^[0-9]+$/.test(payer))) return payers.map(usedBy)
  const receipt = memberSpans(body).get('tx_receipt')
  const own = receipt === undefined ? undefined : memberSpans(body, receipt[0]).get('ram_usage')
  return own === undefined ? [] : [...memberSpans(body, own[0]).keys()].map(usedBy)
}

/**
 * Reads only what a list shows of a stored `body`: a page of transactions needs neither arguments nor receipts. The
 * values equal those of `decodeTransaction`; `actions` is their number, and `first` the first one. Throws Failure
 * 'bad_block'.
 */
export function summarizeTransaction(body: string) {
  const path = { key: 'transaction' }
  const fields = expectObject(parseAnswer(body, 'transaction'), path)
  const inReceipt = { above: path, key: 'tx_receipt' }
  const receipt = requireObject(fields, 'tx_receipt', path)
  const actions = requireList(fields, 'actions', path)
  const inFirst = { above: { above: path, key: 'actions' }, key: 0 }
  const first = actions.length === 0 ? undefined : expectObject(actions[0], inFirst)
  return {
    publisher: requireText(fields, 'publisher', path),
    statusCode: requireText(receipt, 'status_code', inReceipt, WORD),
    gasUsage: decodeGasUsage(receipt, inReceipt),
    actions: actions.length,
    first: first && {
      contract: requireText(first, 'contract', inFirst),
      actionName: requireText(first, 'action_name', inFirst),
    },
  }
}

/** Members that a value, or each entry of a list, may have. `undefined`: the member's value is kept as it is. */
type Shape = { readonly [name: string]: Shape | undefined }

const definePlainShape = (...names: readonly string[]): Shape =>
  Object.fromEntries(names.map(name => [name, undefined]))

/** A transaction of the node's JSON (go-iost rpc/pb, Transaction). */
const TRANSACTION: Shape = {
  ...definePlainShape('hash', 'time', 'expiration', 'gas_ratio', 'gas_limit', 'delay', 'chain_id'),
  ...definePlainShape('signers', 'publisher', 'referred_tx'),
  actions: definePlainShape('contract', 'action_name', 'data'),
  amount_limit: definePlainShape('token', 'value'),
  tx_receipt: {
    ...definePlainShape('tx_hash', 'gas_usage', 'ram_usage', 'status_code', 'message', 'returns'),
    receipts: definePlainShape('func_name', 'content'),
  },
}

/** Whether all members of the value are in the shape, at any depth of the shape. */
function fitsShape(value: unknown, shape: Shape): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(entry => fitsShape(entry, shape))
  for (const name in value) {
    if (!Object.hasOwn(shape, name)) return false
    const own = shape[name]
    if (own !== undefined && !fitsShape((value as Record<string, unknown>)[name], own)) return false
  }
  return true
}

function writeShaped(text: string, span: TextSpan, shape: Shape | undefined): string {
  const first = text[span[0]] ?? ''
  if (first === '[') {
    const entries = elementSpans(text, span[0]).map(entry => writeShaped(text, entry, shape))
    return `[${entries.join(',')}]`
  }
  if (first === '{') {
    const members = [...memberSpans(text, span[0])].filter(
      ([name]) => shape === undefined || Object.hasOwn(shape, name),
    )
    return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${writeShaped(text, each, shape?.[name])}`).join(',')}}`
  }
  const value = compactJson(text, span)
  // A number has one spelling: no hash covers digits beyond those of a double.
  return /[-0-9]/.test(first) ? String(Number(value)) : value
}

/**
 * The compact text of a transaction object at `span`, with its strings unchanged; `value` is the same,
 * parsed. Data that no hash covers is left out, since nothing could prove it: unknown members, all but the
 * last of several members with one name, digits beyond a double's.
 */
function transactionText(text: string, span: TextSpan, value: unknown): string {
  if (!fitsShape(value, TRANSACTION)) return writeShaped(text, span, TRANSACTION)
  // Nearly always the node's own text. A new string: a part of the answer would keep all of it in memory.
  const usual = JSON.stringify(value)
  const [from, to] = span
  const isUsual = usual.length === to - from && text.startsWith(usual, from)
  return isUsual || isCompactForm(usual, text, span) ? usual : writeShaped(text, span, TRANSACTION)
}
