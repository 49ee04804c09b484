import type { TxReceipt } from './block.ts'
import { encodeSimple, hashSimple } from './encode-simple.ts'
import { bytesOfText, isLossyOf, mayBeLossy } from './lost-bytes.ts'

/** go-iost core/tx StatusCode, whose numbers are part of what is hashed. */
const STATUS_CODES: readonly string[] = [
  'SUCCESS',
  'GAS_RUN_OUT',
  'BALANCE_NOT_ENOUGH',
  'WRONG_PARAMETER',
  'RUNTIME_ERROR',
  'TIMEOUT',
  'WRONG_TX_FORMAT',
  'DUPLICATE_SET_CODE',
  'UNKNOWN_ERROR',
]

/** Name of a status by its number, `""` when there is none. */
export const statusName = (code: number): string => STATUS_CODES[code] ?? ''

/** Order of texts as UTF-8. Without surrogates it is that of their letters. */
const byBytes = (a: string, b: string): number => {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (a === b) return 0
  return a < b ? -1 : 1
}
const SURROGATE = /[\ud800-\udfff]/

/**
 * Hash of a transaction's receipt (go-iost core/tx, TxReceipt.ToBytes): a leaf of the block's receipt tree. `txHash` is
 * the transaction's, as bytes. Lone surrogates stand for bytes (`lost-bytes.ts`). undefined: a status the chain does not
 * have.
 */
export const receiptHash = (txHash: Uint8Array, receipt: TxReceipt): Uint8Array | undefined => {
  const parts = partsOf(txHash, receipt)
  return parts === undefined ? undefined : hashSimple(parts)
}

/** Where the message begins in `receiptBytes`: behind the hash and the gas, the status and three lengths. */
export const MESSAGE_AT = 4 + 32 + 8 + 4 + 4 + 4

/** The hashed bytes of a receipt. */
export const receiptBytes = (txHash: Uint8Array, receipt: TxReceipt): Uint8Array | undefined => {
  const parts = partsOf(txHash, receipt)
  return parts === undefined ? undefined : encodeSimple(parts)
}

const partsOf = (txHash: Uint8Array, receipt: TxReceipt): Parameters<typeof encodeSimple>[0] | undefined => {
  const code = STATUS_CODES.indexOf(receipt.statusCode)
  if (code < 0) return undefined
  const ram =
    receipt.ramUsage.length < 2 ? receipt.ramUsage : [...receipt.ramUsage].sort(([a], [b]) => byBytes(a, b))
  return [
    txHash,
    receipt.gasUsage,
    [code, bytesOfText(receipt.message)],
    ram.length,
    ...ram.flat(),
    receipt.returns.length,
    ...receipt.returns.map(bytesOfText),
    receipt.receipts.length,
    ...receipt.receipts.map(({ funcName, content }) => [bytesOfText(funcName), bytesOfText(content)]),
  ]
}

/** The texts of a receipt that are hashed and that any bytes may stand in. */
const textsOf = ({ message, returns, receipts }: TxReceipt): readonly string[] => [
  message,
  ...returns,
  ...receipts.flatMap(({ funcName, content }) => [funcName, content]),
]

/** Whether the node's JSON may have lost bytes of what is hashed of this receipt. */
export const mayHaveLost = (receipt: TxReceipt): boolean => textsOf(receipt).some(mayBeLossy)

/** Whether a receipt of the node's JSON is `whole` but for lost bytes. */
export const isShownOf = (shown: TxReceipt, whole: TxReceipt): boolean => {
  const [texts, wholes] = [textsOf(shown), textsOf(whole)]
  const ram = (receipt: TxReceipt): string =>
    String([...receipt.ramUsage].sort(([a], [b]) => byBytes(a, b)).flat())
  return (
    shown.gasUsage === whole.gasUsage &&
    shown.statusCode === whole.statusCode &&
    shown.returns.length === whole.returns.length &&
    ram(shown) === ram(whole) &&
    texts.length === wholes.length &&
    texts.every((text, at) => isLossyOf(text, wholes[at] ?? ''))
  )
}
