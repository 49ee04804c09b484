import type { TxReceipt } from './block.ts'
import { encodeSimple, hashSimple, sha3 } from './hash.ts'

/** go-iost core/tx StatusCode; the numbers are part of the hashed bytes. */
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

/** Name of a status by its number; `""` when there is none. */
export const statusName = (code: number): string => STATUS_CODES[code] ?? ''

/** Compares texts by their UTF-8 bytes. Without surrogates this is the order of their characters. */
function compareBytes(a: string, b: string): number {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (a === b) return 0
  return a < b ? -1 : 1
}
const SURROGATE = /[\ud800-\udfff]/

/**
 * Hash of a transaction's receipt (go-iost core/tx, TxReceipt.ToBytes): a leaf of the block's receipt tree.
 * `txHash`: the hash of the transaction, as bytes. Lone surrogates stand for bytes (`encodeChainText`).
 * undefined: the chain does not have the status.
 */
export function receiptHash(txHash: Uint8Array, receipt: TxReceipt): Uint8Array | undefined {
  const parts = listHashedParts(txHash, receipt)
  return parts && hashSimple(parts)
}

/** Position of the message in the hashed bytes: after the hash and the gas, the status and three lengths. */
const MESSAGE_AT = 4 + 32 + 8 + 4 + 4 + 4

function listHashedParts(txHash: Uint8Array, receipt: TxReceipt): Parameters<typeof encodeSimple>[0] | undefined {
  const code = STATUS_CODES.indexOf(receipt.statusCode)
  if (code < 0) return undefined
  const ram =
    receipt.ramUsage.length < 2 ? receipt.ramUsage : [...receipt.ramUsage].sort(([a], [b]) => compareBytes(a, b))
  return [
    txHash,
    receipt.gasUsage,
    [code, encodeChainText(receipt.message)],
    ram.length,
    ...ram.flat(),
    receipt.returns.length,
    ...receipt.returns.map(encodeChainText),
    receipt.receipts.length,
    ...receipt.receipts.map(({ funcName, content }) => [encodeChainText(funcName), encodeChainText(content)]),
  ]
}

/** The hashed texts of a receipt that may contain any bytes. */
const listHashedTexts = ({ message, returns, receipts }: TxReceipt): readonly string[] => [
  message,
  ...returns,
  ...receipts.flatMap(({ funcName, content }) => [funcName, content]),
]

/** Whether the node's JSON may have lost hashed bytes of this receipt. */
export const mayHaveLost = (receipt: TxReceipt): boolean =>
  listHashedTexts(receipt).some(text => text.includes(REPLACEMENT))

/** Whether a receipt in the node's JSON equals `whole` except for lost bytes. */
export function isShownReceipt(shown: TxReceipt, whole: TxReceipt): boolean {
  const [texts, wholes] = [listHashedTexts(shown), listHashedTexts(whole)]
  const ram = (receipt: TxReceipt): string =>
    String([...receipt.ramUsage].sort(([a], [b]) => compareBytes(a, b)).flat())
  return (
    shown.gasUsage === whole.gasUsage &&
    shown.statusCode === whole.statusCode &&
    shown.returns.length === whole.returns.length &&
    ram(shown) === ram(whole) &&
    texts.length === wholes.length &&
    texts.every((text, at) => isLossyText(text, wholes[at] ?? ''))
  )
}

/**
 * For texts of the chain that are not UTF-8. A node's JSON has U+FFFD in place of each invalid byte, so the hash cannot
 * be recomputed. Here such a byte is kept as a lone surrogate U+DC80 … U+DCFF (PEP 383), which JSON.parse preserves.
 */
const REPLACEMENT = '\ufffd'
const BYTES = 0xdc00
const LONE = /[\udc80-\udcff]/
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function letterLength(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xc2) return 0
  if (first < 0xe0) return 2
  if (first < 0xf0) return 3
  return first < 0xf5 ? 4 : 0
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** Bytes as text; bytes that are not UTF-8 become lone surrogates. */
export function decodeChainText(bytes: Uint8Array): string {
  const whole = decodeStrictly(bytes)
  if (whole !== undefined) return whole
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    const length = letterLength(first)
    const letter = length === 0 ? undefined : decodeStrictly(bytes.subarray(at, at + length))
    text += letter ?? String.fromCharCode(BYTES + first)
    at += letter === undefined ? 1 : length
  }
  return text
}

/** The inverse of `decodeChainText`; a well-formed text is returned unchanged. */
function encodeChainText(text: string): Uint8Array | string {
  if (text.isWellFormed() || !LONE.test(text)) return text
  return Buffer.concat(
    [...text].map(letter => {
      const code = letter.charCodeAt(0)
      return letter.length === 1 && LONE.test(letter) ? Uint8Array.of(code - BYTES) : Buffer.from(letter)
    }),
  )
}

/**
 * Whether a text in the node's JSON can result from `whole` (with lone surrogates). JSON writers differ in
 * the number of U+FFFD for a run of bytes.
 */
function isLossyText(shown: string, whole: string): boolean {
  const squeezed = (text: string): string => text.replace(/(?:\ufffd|[\udc80-\udcff])+/g, REPLACEMENT)
  return shown === whole || squeezed(shown) === squeezed(whole)
}

const CUT = /\ufffd{1,3}$/
/**
 * Maximum number of bytes hashed to find cut bytes: a fraction of a second, whatever a node sends. It is
 * enough for every beginning of a character after a receipt of some 3,000 bytes, and for beginnings of two
 * bytes after one of 47,000.
 */
const MAX_HASHED = 64 * 1024 * 1024

const listNumbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)
/** First bytes of characters of two, three and four bytes, and their continuation bytes. */
const FIRST = { two: listNumbers(0xc2, 0xdf), three: listNumbers(0xe0, 0xef), four: listNumbers(0xf0, 0xf4) }
const NEXT = listNumbers(0x80, 0xbf)

/** The bytes that a cut may leave of a character, by position, for beginnings of one, two and three bytes. */
const BEGINNINGS: readonly (readonly (readonly number[])[])[] = [
  [[...FIRST.two, ...FIRST.three, ...FIRST.four]],
  [[...FIRST.three, ...FIRST.four], NEXT],
  [FIRST.four, NEXT, NEXT],
]

/** Every sequence with one of the bytes for each position. */
const listSequences = function* ([first, ...rest]: readonly (readonly number[])[]): Generator<readonly number[]> {
  if (first === undefined) yield []
  else for (const byte of first) for (const more of listSequences(rest)) yield [byte, ...more]
}

/**
 * Restores the bytes that were cut off the message within its last character, the only way in which nodes of the chain
 * lose bytes. `fits` tests a leaf of the receipt tree. undefined: no bytes fit, or the search would take too long.
 */
export function restoreCutMessage(
  txHash: Uint8Array,
  receipt: TxReceipt,
  fits: (leaf: Uint8Array) => boolean,
): TxReceipt | undefined {
  if (!CUT.test(receipt.message)) return undefined
  const kept = receipt.message.replace(CUT, '')
  // JSON writers show one U+FFFD for each byte, or one for all.
  const shown = receipt.message.length - kept.length
  const at = MESSAGE_AT + Buffer.byteLength(kept)
  let budget = MAX_HASHED
  for (const length of shown === 1 ? [1, 2, 3] : [shown]) {
    const messageOf = (end: readonly number[]): string => kept + String.fromCharCode(...end.map(byte => BYTES + byte))
    const parts = listHashedParts(txHash, { ...receipt, message: messageOf(NEXT.slice(0, length)) })
    if (parts === undefined) return undefined
    const bytes = encodeSimple(parts)
    for (const end of listSequences(BEGINNINGS[length - 1] ?? [[]])) {
      budget -= bytes.length
      if (budget < 0) return undefined
      bytes.set(end, at)
      if (fits(sha3(bytes))) return { ...receipt, message: messageOf(end) }
    }
  }
  return undefined
}
