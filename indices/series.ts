import { type Frozen, findFrozenIndex } from './balance.ts'
import { type DocOf, defineIndex, digits, int, json, text } from './define.ts'

/**
 * The history of an amount: every change, in chain order, in parts of some 30 changes, so that its value at any height
 * can be computed. The id of the newest part is the key (`seriesOf`), so it is found without knowing the number of
 * parts. A full part never changes again (`fullPart`). Parts are numbered from 0, changes from 1.
 */
export const series = defineIndex({
  name: 'series',
  kind: 'state',
  fields: {
    part: int(),
    /** Number in the series of the first change of this part. */
    first: int(),
    /** Number of changes in this part. */
    count: int(),
    /** Height of the first change of this part. */
    height: int(),
    /**
     * The value before the first change, in the form of the kind of series (`seriesOf`). Numbers are in the
     * format of `numberText`.
     */
    opening: json<readonly string[]>(),
    /**
     * Sum of all positive changes up to the last one of this part, and sum of the negative ones without the
     * sign; in the format of `numberText`.
     */
    gained: text(),
    lost: text(),
    /** Number of changes in each sum. */
    gains: int(),
    losses: int(),
    /** The changes (`entryText`). */
    entries: digits(),
  },
})
export type SeriesDoc = DocOf<typeof series>

/**
 * Keys of the series, which are also the ids of their newest parts. Amounts are in the smallest unit, votes in 10^-8.
 */
export const seriesOf = {
  /**
   * An owner's amount of a token: available + frozen. The key is the id of the balance. Opening: available,
   * frozen, then amount and time of each frozen amount, in the node's order.
   */
  balance: (id: string): string => id,
  /**
   * Votes of a voter; each change names the producer. Opening: producer and votes, for each producer with
   * votes of the voter.
   */
  voter: (voter: string): string => `@v/${voter}`,
  /** Votes of a producer; each change names the voter. Opening: all votes. */
  producer: (producer: string): string => `@p/${producer}`,
  /** A token's supply. Opening: the supply. */
  supply: (token: string): string => `@t/${token}`,
  /** IOST that an account has pledged for gas, its own and that of others, in 10^-8. Opening: the sum. */
  pledgedForItself: (pledger: string): string => `@g/${pledger}`,
  pledgedForOthers: (pledger: string): string => `@o/${pledger}`,
  /**
   * Coefficients of the bonus of a producer's voters, and of the bonus of all candidates, in 10^-50. Opening:
   * the coefficient.
   */
  votersCoefficient: (producer: string): string => `@c/${producer}`,
  candidatesCoefficient: '@k',
  /**
   * The masks of a voter in 10^-58, by producer. The value 1 under the name `formatDoubt(producer)` marks a mask
   * that cannot be known. Opening: as for `voter`. Gains and losses stay 0.
   */
  voterMasks: (voter: string): string => `@m/${voter}`,
  /** The mask of a candidate in 10^-58, under `""`, and its doubt. Opening: as for `voterMasks`. */
  candidateMask: (producer: string): string => `@n/${producer}`,
  /** Number of a token's holders; one change a block. Opening: that number. */
  holders: (token: string): string => `@h/${token}`,
  /**
   * Rewards that a producer and its voters took and were given, in 10^-8 IOST. Each change has its kind:
   * `exchange`, `candidate` with the amount that its voters were given beside it, `topup` with the payer,
   * `voters`. Opening: the sum of all, which has no meaning.
   */
  rewards: (producer: string): string => `@r/${producer}`,
  /**
   * Owners of an item of token721.iost, by its id. Each change is 1 and names the giver (`""`: issued) and
   * the recipient. Opening: the number of owners.
   */
  item: (id: string): string => `@x/${id}`,
} as const

/** Id of a full part. The other ids begin with the name of a token, which contains neither `#` nor `@`. */
export const fullPart = (key: string, part: number): string => `#${part}/${key}`

/** The name under which masks record that earnings from a producer before its contract wrote receipts are unknown. */
export const formatDoubt = (producer: string): string => `?${producer}`

/** Digits parsed at once, few enough for an exact `number`. */
const STEP = 10
/** The factor of a whole step, computed once because masks have 60 digits. */
const STEP_VALUE = 36n ** BigInt(STEP)
/** Prefix of the digits of a base-36 number; no decimal contains it. */
const MARK = '^'

/**
 * The text of a number: a decimal, or base 36 if it has many digits (masks have 60), which takes two thirds
 * of the space.
 */
export function numberText(value: bigint): string {
  const decimal = String(value)
  if (decimal.length < 20) return decimal
  return value < 0n ? `-${MARK}${(-value).toString(36)}` : `${MARK}${value.toString(36)}`
}

/** The number in a text that `numberText` wrote. Throws SyntaxError if the text is not one. */
export function parsePackedNumber(text: string): bigint {
  const mark = text.indexOf(MARK)
  if (mark < 0) return BigInt(text)
  let value = 0n
  for (let at = mark + 1; at < text.length; at += STEP) {
    const digits = text.slice(at, at + STEP)
    if (!/^[0-9a-z]+$/.test(digits)) throw new SyntaxError(`"${text}" is no number of a series.`)
    const scale = digits.length === STEP ? STEP_VALUE : 36n ** BigInt(digits.length)
    value = value * scale + BigInt(Number.parseInt(digits, 36))
  }
  return mark === 0 ? value : -value
}

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
const LETTER_OF = { freeze: 'f', block: 'b', ram: 'm', due: 'd', tx: 't' } as const

/**
 * The text of an entry: `offset,tx,cause,change[,more …];`. The offset is counted from the height of the
 * part; 0 is left out. The change is in the format of `numberText`.
 */
export function entryText({ height, tx, cause, change, times, more }: Entry, base: number): string {
  const offset = height - base
  const of = 'index' in cause ? cause.index : times === 1 ? '' : times
  const letter = cause.kind === 'row' ? '' : LETTER_OF[cause.kind]
  // Names come from the chain and may in principle contain any character.
  const names = more.map(text => `,${/[,;%]/.test(text) ? encodeURIComponent(text.toWellFormed()) : text}`)
  const rest = names.join('')
  return `${offset === 0 ? '' : offset},${tx === 0 ? '' : tx},${letter}${of},${numberText(change)}${rest};`
}

/** The entries of a part, in order. Throws an Error if the text was not written by `entryText`. */
export const parseEntries = (text: string, base: number): readonly Entry[] =>
  text
    .split(';')
    .slice(0, -1)
    .map(part => {
      const [offset = '', tx = '', of = '', change = '', ...more] = part.split(',')
      const { cause, times } = parseCause(of)
      return {
        height: base + Number(offset),
        tx: Number(tx),
        cause,
        change: parsePackedNumber(change),
        times,
        more: more.map(each => (each.includes('%') ? decodeURIComponent(each) : each)),
      }
    })

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

function parseCause(text: string): { readonly cause: Cause; readonly times: number } {
  const kind = LETTERS[text.charAt(0) as keyof typeof LETTERS]
  if (kind === undefined) return { cause: { kind: 'row', index: Number(text) }, times: 1 }
  if (kind === 'freeze') return { cause: { kind, index: Number(text.slice(1)) }, times: 1 }
  return { cause: { kind }, times: text.length === 1 ? 1 : Number(text.slice(1)) }
}

/** An owner's amounts of a token, in its smallest unit. */
export type Held = {
  available: bigint
  frozen: bigint
  /** Amounts not yet due, by time, then amount: the node's own order. */
  list: readonly Frozen[]
}

/** The owner's amounts when a part of `seriesOf.balance` began, read from its opening. */
export function parseHeld([available = '0', frozen = '0', ...rest]: readonly string[]): Held {
  const list: Frozen[] = []
  for (let at = 0; at + 1 < rest.length; at += 2) list.push([rest[at] ?? '0', rest[at + 1] ?? '0'])
  return { available: BigInt(available), frozen: BigInt(frozen), list }
}

/** The owner's amounts after `times` of the changes that an entry represents. */
export function applyHeldEntry(held: Held, { cause, change, more: [until, own] }: Entry, times = 1): Held {
  const { available, frozen, list } = held
  if (cause.kind === 'due')
    return { available: available + change, frozen: frozen - change, list: removeReleased(list, change) }
  if (until === undefined) return { ...held, available: available + change * BigInt(times) }
  const amount = own === undefined ? change : BigInt(own)
  return {
    available: available + change - amount,
    frozen: frozen + amount,
    list: list.toSpliced(findFrozenIndex(list, amount, BigInt(until)), 0, [String(amount), until]),
  }
}

/** The list without the first amounts, which became due together: as many as add up to the amount. */
function removeReleased(list: readonly Frozen[], amount: bigint): readonly Frozen[] {
  let released = 0n
  let count = 0
  while (count < list.length && released < amount) {
    released += BigInt(list[count]?.[0] ?? '0')
    count += 1
  }
  return list.slice(count)
}

/** Votes by producer or voter; names without votes are left out. */
export type Votes = ReadonlyMap<string, bigint>

/** Votes when a part of `seriesOf.voter` began, read from its opening. */
export function parseVotes(opening: readonly string[]): Votes {
  const votes = new Map<string, bigint>()
  for (let at = 0; at + 1 < opening.length; at += 2)
    votes.set(opening[at] ?? '', parsePackedNumber(opening[at + 1] ?? '0'))
  return votes
}

/** Votes after one more change. */
export function applyVoteEntry(votes: Votes, { change, more: [name = ''] }: Entry): Votes {
  const after = new Map(votes)
  const now = (votes.get(name) ?? 0n) + change
  if (now === 0n) after.delete(name)
  else after.set(name, now)
  return after
}
