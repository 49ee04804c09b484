import type { Index, Order } from './define.ts'
import type { Segment } from './segment.ts'

/** Where a member stands in a counted order: larger amounts first, then names by their bytes, as both stores sort them. */
export type Standing = { readonly amount: bigint; readonly name: string }

/** Behind every name: a segment that begins between two amounts names nobody, and is found by the amount alone. */
export const LAST_NAME = '\u{10ffff}'

/** Part of a group: right after `after` (absent: from the top) to `until`, inclusive (absent: to the end). */
export type StandingRange = {
  readonly index: Index
  /** An order of the index that is counted. */
  readonly order: string
  readonly group?: string
  readonly after?: Standing
  readonly until?: Standing
}

type CountedOrder = {
  readonly name: string
  readonly group: string | undefined
  readonly amount: string
  readonly member: string
}

/** The counted order of an index, if it has one: its fields. */
export const countedOrderOf = (index: Index): CountedOrder | undefined => {
  for (const [name, order] of Object.entries(index.orders))
    if (order.counted) return { name, group: order.group, ...standingFields(order) }
  return undefined
}

/** Fields of a counted order: it goes by an amount descending, above zero, then by a name ascending. */
export const standingFields = ({ by }: Order): { readonly amount: string; readonly member: string } => {
  const [amount, member] = by
  if (amount?.[1] !== 'desc' || member?.[1] !== 'asc' || by.length !== 2)
    throw new TypeError(`An order that is counted goes by an amount and a name, not by ${by.join(' ')}.`)
  return { amount: amount[0], member: member[0] }
}

/** Below 0: `a` stands before `b`. */
export const compareStandings = (a: Standing, b: Standing): number =>
  a.amount === b.amount ? compareNames(a.name, b.name) : a.amount > b.amount ? -1 : 1

/** As the bytes of UTF-8 compare: by code points, where JavaScript compares halves of surrogate pairs. */
const compareNames = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left !== right) return weightOf(left) - weightOf(right)
  }
  return a.length - b.length
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xe000
/** Pairs stand for code points above all single units. */
const weightOf = (unit: number): number => (isSurrogate(unit) ? unit + 0x10000 : unit)

/** Where a segment begins; undefined: at the top. */
export const beginOf = ([amount, name]: Segment): Standing | undefined =>
  amount === '' ? undefined : { amount: BigInt(amount), name }

/** Whether a standing is in the range. */
export const isWithin = (standing: Standing, { after, until }: StandingRange): boolean =>
  (after === undefined || compareStandings(after, standing) < 0) &&
  (until === undefined || compareStandings(standing, until) <= 0)
