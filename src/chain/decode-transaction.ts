import { parseUnits } from './amount.ts'
import { base58Bytes } from './base58.ts'
import type { Action, Receipt, Transaction, TxReceipt } from './block.ts'
import { type Bound, HASH, IN_GENESIS, IN_TRANSACTION, OF_EXECUTION, RECEIPTS, WORD } from './bounds.ts'
import {
  asInt64,
  asObject,
  bounded,
  getMember,
  getOptionalText,
  int64Of,
  invalidValue,
  type JsonFields,
  overBound,
  type Path,
  parseAnswer,
  requireDecimal,
  requireInteger,
  requireList,
  requireObject,
  requireText,
  requireTexts,
} from './json-fields.ts'
import { compactJson, elementSpans, isCompactForm, memberSpans, type TextSpan } from './json-text.ts'

/** Gas has two decimals: the node stores it as an integer × 100 and prints that divided by 100. */
const GAS_DECIMALS = 2

/** An object in a JSON text: its position, and its parsed value. */
type Written = { readonly text: string; readonly span: TextSpan; readonly value: unknown }

/**
 * Decodes a transaction object. `data`: bound of the data of an action. Throws Failure 'bad_block' with the
 * path of the invalid value.
 */
export function decodeWrittenTransaction(
  { text, span, value }: Written,
  path: Path,
  data: Bound = IN_GENESIS,
): Transaction {
  asObject(value, path)
  return decodeBodiedTransaction({ value, body: transactionText(text, span, value) }, path, data)
}

/** A transaction object, and its text from `transactionText`. */
type Bodied = { readonly value: unknown; readonly body: string }

/** `decodeWrittenTransaction` for a text that was made before. */
export function decodeBodiedTransaction({ value, body }: Bodied, path: Path, data: Bound = IN_GENESIS): Transaction {
  const fields = asObject(value, path)
  const hash = requireText(fields, 'hash', path, HASH)
  return {
    hash,
    time: int64Of(fields, 'time', path),
    expiration: int64Of(fields, 'expiration', path),
    gasRatio: requireDecimal(fields, 'gas_ratio', path),
    gasLimit: requireDecimal(fields, 'gas_limit', path),
    delay: int64Of(fields, 'delay', path),
    chainId: decodeChainId(fields, path),
    actions: requireList(fields, 'actions', path).map((action, index) =>
      decodeAction(action, { above: { above: path, key: 'actions' }, key: index }, data),
    ),
    signers: requireTexts(fields, 'signers', path),
    publisher: requireText(fields, 'publisher', path),
    referredTx: decodeReferredTx(fields, path),
    amountLimit: decodeAmountLimits(fields, path),
    receipt: decodeTxReceipt(
      requireObject(fields, 'tx_receipt', path),
      { hash, body },
      { above: path, key: 'tx_receipt' },
    ),
    body,
  }
}

function decodeChainId(fields: JsonFields, above: Path): number {
  const id = requireInteger(fields, 'chain_id', above)
  if (id < 0) throw invalidValue({ above, key: 'chain_id' }, id, 'a number from 0')
  return id
}

/** The hash covers the decoded bytes: a text that is not base58 would be hashed as if it were missing. */
function decodeReferredTx(fields: JsonFields, above: Path): string {
  const text = getOptionalText(fields, 'referred_tx', above, HASH)
  if (base58Bytes(text) === undefined) throw invalidValue({ above, key: 'referred_tx' }, text, 'base58')
  return text
}

/** Decodes the text of one transaction object, such as a stored `body`. Throws Failure 'bad_block'. */
export const decodeTransaction = (text: string): Transaction =>
  decodeWrittenTransaction(
    { text, span: [0, text.length], value: parseAnswer(text, 'transaction') },
    { key: 'transaction' },
  )

function decodeAction(value: unknown, path: Path, data: Bound): Action {
  const fields = asObject(value, path)
  return {
    contract: requireText(fields, 'contract', path),
    actionName: requireText(fields, 'action_name', path),
    data: requireText(fields, 'data', path, data),
  }
}

/** `amount_limit` of a transaction or of an ABI. */
export const decodeAmountLimits = (fields: JsonFields, above: Path): Transaction['amountLimit'] =>
  requireList(fields, 'amount_limit', above).map((value, index) => {
    const path = { above: { above, key: 'amount_limit' }, key: index }
    const limit = asObject(value, path)
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
    receipts: requireList(fields, 'receipts', path, RECEIPTS).map((value, index) =>
      decodeReceipt(value, { above: { above: path, key: 'receipts' }, key: index }),
    ),
  }
}

/** Gas × 100, from a receipt's `gas_usage`. More than two decimals are invalid. */
function decodeGasUsage(fields: JsonFields, above: Path): bigint {
  const text = requireDecimal(fields, 'gas_usage', above)
  const point = text.indexOf('.')
  if (point >= 0 && text.length - point - 1 > GAS_DECIMALS)
    throw invalidValue({ above, key: 'gas_usage' }, getMember(fields, 'gas_usage'), 'a number of at most two decimals')
  return parseUnits(text, GAS_DECIMALS) ?? 0n
}

/** A parsed object lists payers such as `12345` first, so the order is taken from the text. */
function decodeRamUsage(fields: JsonFields, body: string, above: Path): TxReceipt['ramUsage'] {
  const path = { above, key: 'ram_usage' }
  const usage = asObject(getMember(fields, 'ram_usage'), path)
  const payers = Object.keys(usage)
  if (payers.length > IN_TRANSACTION.most) throw overBound(path, `${payers.length} payers`, IN_TRANSACTION)
  for (const payer of payers) bounded(payer, path, IN_TRANSACTION)
  const usedBy = (payer: string) => [payer, asInt64(usage[payer], { above: path, key: payer })] as const
  if (!payers.some(payer => /^[0-9]+$/.test(payer))) return payers.map(usedBy)
  const receipt = memberSpans(body).get('tx_receipt')
  const own = receipt === undefined ? undefined : memberSpans(body, receipt[0]).get('ram_usage')
  return own === undefined ? [] : [...memberSpans(body, own[0]).keys()].map(usedBy)
}

function decodeReceipt(value: unknown, path: Path): Receipt {
  const fields = asObject(value, path)
  return {
    funcName: requireText(fields, 'func_name', path),
    content: requireText(fields, 'content', path, OF_EXECUTION),
  }
}

/** The data of a transaction that a list shows. */
type TransactionSummary = Pick<Transaction, 'publisher'> &
  Pick<TxReceipt, 'statusCode' | 'gasUsage'> & {
    /** Number of actions. */
    readonly actions: number
    /** undefined: the transaction has no actions. */
    readonly first: Pick<Action, 'contract' | 'actionName'> | undefined
  }

/**
 * Reads only these fields of a stored `body`: a page of transactions needs neither arguments nor receipts.
 * The values equal those of `decodeTransaction`. Throws Failure 'bad_block'.
 */
export function summarizeTransaction(body: string): TransactionSummary {
  const path = { key: 'transaction' }
  const fields = asObject(parseAnswer(body, 'transaction'), path)
  const inReceipt = { above: path, key: 'tx_receipt' }
  const receipt = requireObject(fields, 'tx_receipt', path)
  const actions = requireList(fields, 'actions', path)
  const inFirst = { above: { above: path, key: 'actions' }, key: 0 }
  const first = actions.length === 0 ? undefined : asObject(actions[0], inFirst)
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

/**
 * Members that a value may have, by name. `undefined`: the member's value is kept as it is. For a list: the
 * shape of each entry.
 */
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

/** Whether all members of the value are in the shape, at any depth. */
function fits(value: unknown, shape: Shape): boolean {
  const open: Fitting[] = [{ value, shape }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) if (!fitsOutside(next, open)) return false
  return true
}

type Fitting = { readonly value: unknown; readonly shape: Shape | readonly [Shape] }

/** Whether the value's own members are known; nested values are added to `open`. */
function fitsOutside({ value, shape }: Fitting, open: Fitting[]): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (isList(shape)) {
    if (Array.isArray(value)) for (const entry of value) open.push({ value: entry, shape: shape[0] })
    return true
  }
  for (const name in value) {
    if (!Object.hasOwn(shape, name)) return false
    const own = shape[name]
    if (own !== undefined) open.push({ value: (value as Record<string, unknown>)[name], shape: own })
  }
  return true
}

function written(text: string, span: TextSpan, shape: Shape | readonly [Shape] | undefined): string {
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
  // A number has one spelling: no hash covers digits beyond those of a double.
  return /[-0-9]/.test(first) ? String(Number(value)) : value
}

/**
 * The compact text of a transaction object at `span`, with its strings unchanged; `value` is the same,
 * parsed. Data that no hash covers is left out, since nothing could prove it: unknown members, all but the
 * last of several members with one name, digits beyond a double's.
 */
export function transactionText(text: string, span: TextSpan, value: unknown): string {
  if (!fits(value, TRANSACTION)) return written(text, span, TRANSACTION)
  // Nearly always the node's own text. A new string: a part of the answer would keep all of it in memory.
  const usual = JSON.stringify(value)
  const [from, to] = span
  const isUsual = usual.length === to - from && text.startsWith(usual, from)
  return isUsual || isCompactForm(usual, text, span) ? usual : written(text, span, TRANSACTION)
}
