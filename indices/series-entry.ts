import { numberText, parsePackedNumber } from './series-number.ts'

/** The cause of a change of an amount. */
export type Cause =
  /** A row of `records`, identified by its number in the transaction. */
  | { readonly kind: 'row'; readonly index: number }
  /**
   * Likewise a row, whose amount is frozen. An owner that freezes its own amount changes nothing: the change is 0, and
   * the amount stands after the time.
   */
  | { readonly kind: 'freeze'; readonly index: number }
  /** Contribution to a block, made by its base transaction; it has no row. */
  | { readonly kind: 'block' }
  /** Bytes of RAM that a transaction used or released. */
  | { readonly kind: 'ram' }
  /** A frozen amount that became due, before the transactions of the block. */
  | { readonly kind: 'due' }
  /** A transaction whose receipts or actions alone show the change. */
  | { readonly kind: 'tx' }

/**
 * One change, or `times` equal changes, one in each of that many consecutive blocks. The `change` of a `due`
 * entry is the amount that became available; the sum of available and frozen stays the same.
 */
export type Entry = {
  readonly height: number
  /** Position of the transaction in the block. */
  readonly tx: number
  readonly cause: Cause
  readonly change: bigint
  readonly times: number
  /**
   * Further values, by the kind of series: the time until which an amount is frozen, followed by the amount if it was
   * the owner's own; the account whose votes they are.
   */
  readonly more: readonly string[]
}

const LETTERS = { f: 'freeze', b: 'block', m: 'ram', d: 'due', t: 'tx' } as const
type Letter = keyof typeof LETTERS
const LETTER_OF = { freeze: 'f', block: 'b', ram: 'm', due: 'd', tx: 't' } as const

/**
 * The text of an entry: `offset,tx,cause,change[,more …];`. The offset is counted from the height of the
 * part; 0 is left out. The change is in the format of `numberText`.
 */
export function entryText({ height, tx, cause, change, times, more }: Entry, base: number): string {
  const offset = height - base
  const of = 'index' in cause ? cause.index : times === 1 ? '' : times
  const letter = cause.kind === 'row' ? '' : LETTER_OF[cause.kind]
  const rest = more.length === 0 ? '' : `,${more.map(escaped).join(',')}`
  return `${offset === 0 ? '' : offset},${tx === 0 ? '' : tx},${letter}${of},${numberText(change)}${rest};`
}

/** Names come from the chain and may in principle contain any character. */
const escaped = (text: string): string => (/[,;%]/.test(text) ? encodeURIComponent(text.toWellFormed()) : text)

/** The entries of a part, in order. Throws an Error if the text was not written by `entryText`. */
export const parseEntries = (text: string, base: number): readonly Entry[] =>
  text
    .split(';')
    .slice(0, -1)
    .map(part => parseEntry(part, base))

/** Whether amounts were frozen or became due in these entries of a balance. */
export const hasFrozenEntry = (text: string): boolean => /[fd]/.test(text)

/**
 * The text of a part after one more change that its last entry can absorb: both are of kind `block`, equal,
 * and in consecutive blocks. undefined: the last entry does not match. Nearly every block calls this, so only
 * the last entry is parsed.
 */
export function prolonged(
  text: string,
  { height, tx, change }: Pick<Entry, 'height' | 'tx' | 'change'>,
  base: number,
): string | undefined {
  const begin = text.lastIndexOf(';', text.length - 2) + 1
  const end = `,${numberText(change)};`
  const behind = text.length - end.length
  const ofTx = text.indexOf(',', begin) + 1
  const cause = text.indexOf(',', ofTx) + 1
  if (text[cause] !== LETTER_OF.block || text.indexOf(',', cause) !== behind || !text.endsWith(end)) return undefined
  const times = behind === cause + 1 ? 1 : Number(text.slice(cause + 1, behind))
  if (base + Number(text.slice(begin, ofTx - 1)) + times !== height) return undefined
  if (Number(text.slice(ofTx, cause - 1)) !== tx) return undefined
  return `${text.slice(0, cause + 1)}${times + 1}${end}`
}

function parseEntry(text: string, base: number): Entry {
  const [offset = '', tx = '', of = '', change = '', ...more] = text.split(',')
  const { cause, times } = parseCause(of)
  return {
    height: base + Number(offset),
    tx: Number(tx),
    cause,
    change: parsePackedNumber(change),
    times,
    more: more.map(each => (each.includes('%') ? decodeURIComponent(each) : each)),
  }
}

function parseCause(text: string): { readonly cause: Cause; readonly times: number } {
  const kind = LETTERS[text.charAt(0) as Letter]
  if (kind === undefined) return { cause: { kind: 'row', index: Number(text) }, times: 1 }
  if (kind === 'freeze') return { cause: { kind, index: Number(text.slice(1)) }, times: 1 }
  return { cause: { kind }, times: text.length === 1 ? 1 : Number(text.slice(1)) }
}
