import type { TxReceipt } from './block.ts'

/** Where bytes of a letter's beginning are lone surrogates (`lost-bytes.ts`). */
const BYTES = 0xdc00
const CUT = /\ufffd{1,3}$/

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)
/** First bytes of letters of two, three and four bytes, and the bytes behind them. */
const FIRST = { two: range(0xc2, 0xdf), three: range(0xe0, 0xef), four: range(0xf0, 0xf4) }
const NEXT = range(0x80, 0xbf)

const ended = (bytes: readonly number[]): string => String.fromCharCode(...bytes.map(byte => BYTES + byte))

/** Every beginning of a letter that a cut may leave, by the U+FFFD it shows as: one for each byte, or one for all. */
const beginnings = function* (shown: number): Generator<string> {
  const may = (bytes: number): boolean => shown === 1 || shown === bytes
  if (may(1)) for (const first of [...FIRST.two, ...FIRST.three, ...FIRST.four]) yield ended([first])
  if (may(2))
    for (const first of [...FIRST.three, ...FIRST.four])
      for (const second of NEXT) yield ended([first, second])
  if (may(3))
    for (const first of FIRST.four)
      for (const second of NEXT) for (const third of NEXT) yield ended([first, second, third])
}

/**
 * What a receipt may have been whose message was cut within its last letter, the only way a node of the chain loses bytes:
 * few enough to find the one that has the right hash.
 */
export const uncut = function* (receipt: TxReceipt): Generator<TxReceipt> {
  if (!CUT.test(receipt.message)) return
  const kept = receipt.message.replace(CUT, '')
  for (const end of beginnings(receipt.message.length - kept.length))
    yield { ...receipt, message: kept + end }
}
