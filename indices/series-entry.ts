import { numberIn, numberText } from './series-number.ts'

/** What changed an amount. */
export type Cause =
  /** A row of `records`, by its number in the transaction. */
  | { readonly kind: 'row'; readonly index: number }
  /** The same of an amount that is frozen. */
  | { readonly kind: 'freeze'; readonly index: number }
  /** The contribute of a block, by its base transaction; it has no row. */
  | { readonly kind: 'block' }
  /** Bytes of RAM that a transaction used or gave back. */
  | { readonly kind: 'ram' }
  /** A frozen amount that came due, before the transactions of the block. */
  | { readonly kind: 'due' }
  /** A transaction, by what only its receipts or its actions say. */
  | { readonly kind: 'tx' }

/**
 * One change, or `times` equal ones in as many blocks that follow each other. `change` of a `due` entry is what became
 * available; the sum of available and frozen stays as it was.
 */
export type Entry = {
  readonly height: number
  /** Position of the transaction in the block. */
  readonly tx: number
  readonly cause: Cause
  readonly change: bigint
  readonly times: number
  /** More that the kind of series says: until when an amount is frozen, whose votes they are. */
  readonly more: readonly string[]
}

const LETTERS = { f: 'freeze', b: 'block', m: 'ram', d: 'due', t: 'tx' } as const
type Letter = keyof typeof LETTERS
const LETTER_OF = { freeze: 'f', block: 'b', ram: 'm', due: 'd', tx: 't' } as const

/**
 * The text of an entry: `offset,tx,cause,change[,more …];`. The offset is from the height of the part; 0 is left out. The change
 * is as `numberText` writes it.
 */
export const entryText = ({ height, tx, cause, change, times, more }: Entry, base: number): string => {
  const offset = height - base
  const of = 'index' in cause ? cause.index : times === 1 ? '' : times
  const letter = cause.kind === 'row' ? '' : LETTER_OF[cause.kind]
  const rest = more.length === 0 ? '' : `,${more.map(escaped).join(',')}`
  return `${offset === 0 ? '' : offset},${tx === 0 ? '' : tx},${letter}${of},${numberText(change)}${rest};`
}

/** Names are the chain's and may in principle hold any letter. */
const escaped = (text: string): string =>
  /[,;%]/.test(text) ? encodeURIComponent(text.toWellFormed()) : text

/** The entries of a part, in order. Throws Error where the text is none that `entryText` wrote. */
export const entriesIn = (text: string, base: number): readonly Entry[] =>
  text
    .split(';')
    .slice(0, -1)
    .map(part => entryIn(part, base))

/** Whether amounts were frozen or came due in these entries of a balance. */
export const isFrozenIn = (text: string): boolean => /[fd]/.test(text)

/**
 * The text of a part whose last entry stands for one change more: one of a block that is like its own, and of the block
 * that follows it. undefined: the last entry is another one. Asked for in nearly every block, so nothing else is read of it.
 */
export const prolonged = (
  text: string,
  { height, tx, change }: Pick<Entry, 'height' | 'tx' | 'change'>,
  base: number,
): string | undefined => {
  const begin = text.lastIndexOf(';', text.length - 2) + 1
  const end = `,${numberText(change)};`
  const behind = text.length - end.length
  const ofTx = text.indexOf(',', begin) + 1
  const cause = text.indexOf(',', ofTx) + 1
  if (text[cause] !== LETTER_OF.block || text.indexOf(',', cause) !== behind || !text.endsWith(end))
    return undefined
  const times = behind === cause + 1 ? 1 : Number(text.slice(cause + 1, behind))
  if (base + Number(text.slice(begin, ofTx - 1)) + times !== height) return undefined
  if (Number(text.slice(ofTx, cause - 1)) !== tx) return undefined
  return `${text.slice(0, cause + 1)}${times + 1}${end}`
}

const entryIn = (text: string, base: number): Entry => {
  const [offset = '', tx = '', of = '', change = '', ...more] = text.split(',')
  const { cause, times } = causeIn(of)
  return {
    height: base + Number(offset),
    tx: Number(tx),
    cause,
    change: numberIn(change),
    times,
    more: more.map(each => (each.includes('%') ? decodeURIComponent(each) : each)),
  }
}

const causeIn = (text: string): { readonly cause: Cause; readonly times: number } => {
  const kind = LETTERS[text.charAt(0) as Letter]
  if (kind === undefined) return { cause: { kind: 'row', index: Number(text) }, times: 1 }
  if (kind === 'freeze') return { cause: { kind, index: Number(text.slice(1)) }, times: 1 }
  return { cause: { kind }, times: text.length === 1 ? 1 : Number(text.slice(1)) }
}
