import type { TxReceipt } from './block.ts'
import { sha3 } from './hash.ts'
import { MESSAGE_AT, receiptBytes } from './receipt-hash.ts'

/** Where bytes of a letter's beginning are lone surrogates (`lost-bytes.ts`). */
const BYTES = 0xdc00
const CUT = /\ufffd{1,3}$/
/**
 * Bytes that are hashed at most to find what was cut off: a fraction of a second, whatever a node says. Enough for every
 * beginning of a letter behind a receipt of some 3,000 bytes, and for those of two bytes behind one of 47,000.
 */
const MOST_HASHED = 64 * 1024 * 1024

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)
/** First bytes of letters of two, three and four bytes, and the bytes behind them. */
const FIRST = { two: range(0xc2, 0xdf), three: range(0xe0, 0xef), four: range(0xf0, 0xf4) }
const NEXT = range(0x80, 0xbf)

/** The bytes a cut may leave of a letter, place by place, for beginnings of one, two and three bytes. */
const BEGINNINGS: readonly (readonly (readonly number[])[])[] = [
  [[...FIRST.two, ...FIRST.three, ...FIRST.four]],
  [[...FIRST.three, ...FIRST.four], NEXT],
  [FIRST.four, NEXT, NEXT],
]

/** Every sequence with one of the bytes of each place. */
const sequences = function* ([first, ...rest]: readonly (readonly number[])[]): Generator<readonly number[]> {
  if (first === undefined) yield []
  else for (const byte of first) for (const more of sequences(rest)) yield [byte, ...more]
}

/** Every beginning of a letter of so many bytes that a cut may leave. */
const beginnings = (bytes: number): Iterable<readonly number[]> => sequences(BEGINNINGS[bytes - 1] ?? [[]])

/**
 * The receipt with what was cut off its message within the last letter, the only way a node of the chain loses bytes:
 * `fits` says whether a leaf of the receipt tree is the right one. undefined: none is, or it would take too long to find.
 */
export const uncut = (
  txHash: Uint8Array,
  receipt: TxReceipt,
  fits: (leaf: Uint8Array) => boolean,
): TxReceipt | undefined => {
  if (!CUT.test(receipt.message)) return undefined
  const kept = receipt.message.replace(CUT, '')
  // Writers of JSON show one U+FFFD for each byte, or one for all.
  const shown = receipt.message.length - kept.length
  const at = MESSAGE_AT + Buffer.byteLength(kept)
  const budget = { bytes: MOST_HASHED }
  for (const length of shown === 1 ? [1, 2, 3] : [shown]) {
    const messageOf = (end: readonly number[]): string =>
      kept + String.fromCharCode(...end.map(byte => BYTES + byte))
    const bytes = receiptBytes(txHash, { ...receipt, message: messageOf(NEXT.slice(0, length)) })
    if (bytes === undefined) return undefined
    const end = fittingEnd({ bytes, at, length }, fits, budget)
    if (end !== undefined) return { ...receipt, message: messageOf(end) }
  }
  return undefined
}

/** A receipt as it is hashed, and which of its bytes were cut off. */
type Gap = { readonly bytes: Uint8Array; readonly at: number; readonly length: number }

/** The bytes that fit in a gap; undefined: none do, or the budget is used up. */
const fittingEnd = (
  { bytes, at, length }: Gap,
  fits: (leaf: Uint8Array) => boolean,
  budget: { bytes: number },
): readonly number[] | undefined => {
  for (const end of beginnings(length)) {
    budget.bytes -= bytes.length
    if (budget.bytes < 0) return undefined
    bytes.set(end, at)
    if (fits(sha3(bytes))) return end
  }
  return undefined
}
