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

/** Every beginning of a letter of so many bytes that a cut may leave. */
const beginnings = function* (bytes: number): Generator<readonly number[]> {
  if (bytes === 1) for (const first of [...FIRST.two, ...FIRST.three, ...FIRST.four]) yield [first]
  if (bytes === 2)
    for (const first of [...FIRST.three, ...FIRST.four]) for (const second of NEXT) yield [first, second]
  if (bytes === 3)
    for (const first of FIRST.four)
      for (const second of NEXT) for (const third of NEXT) yield [first, second, third]
}

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
  let left = MOST_HASHED
  for (const length of shown === 1 ? [1, 2, 3] : [shown]) {
    const messageOf = (end: readonly number[]): string =>
      kept + String.fromCharCode(...end.map(byte => BYTES + byte))
    const bytes = receiptBytes(txHash, { ...receipt, message: messageOf(NEXT.slice(0, length)) })
    if (bytes === undefined) return undefined
    for (const end of beginnings(length)) {
      left -= bytes.length
      if (left < 0) return undefined
      bytes.set(end, at)
      if (fits(sha3(bytes))) return { ...receipt, message: messageOf(end) }
    }
  }
  return undefined
}
