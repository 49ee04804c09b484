import type { Index, Order } from './define.ts'
import type { Segment } from './segment.ts'

/**
 * Position of a member in a counted order: larger amounts first, then names by their bytes, as both stores sort them.
 */
export type Standing = { readonly amount: bigint; readonly name: string }

/** Sorts after every name. A segment that begins between two amounts has this name and is found by the amount alone. */
export const LAST_NAME = '\u{10ffff}'

/** Part of a group: after `after` (absent: from the top) up to `until`, inclusive (absent: to the end). */
export type StandingRange = {
  readonly index: Index
  /** A counted order of the index. */
  readonly order: string
  readonly group?: string
  readonly after?: Standing
  readonly until?: Standing
}

/** Id of a member's document, the same form in all counted orders. */
export const memberId = (group: string | undefined, name: string): string =>
  group === undefined ? name : `${group}/${name}`

type CountedOrder = {
  readonly name: string
  readonly group: string | undefined
  readonly amount: string
  readonly member: string
  /** Members must have an amount above zero. */
  readonly isPositive: boolean
  readonly where: string | undefined
}

/** Cached, since every document that is written asks for the order of its index. */
const countedOrders = new Map<Index, CountedOrder | undefined>()

/** Name and fields of the counted order of an index; undefined: it has none. */
export function findCountedOrder(index: Index): CountedOrder | undefined {
  if (countedOrders.has(index)) return countedOrders.get(index)
  const [name, order] = Object.entries(index.orders).find(([, { counted }]) => counted) ?? []
  const { group, where, positive } = order ?? {}
  const found =
    name === undefined || order === undefined
      ? undefined
      : { name, group, where, isPositive: positive !== undefined, ...standingFields(order) }
  countedOrders.set(index, found)
  return found
}

/** A document's standing in a counted order; undefined: there is none, or it is in the index but not in the ranking. */
export function findStanding(order: CountedOrder, doc: object | undefined): Standing | undefined {
  if (doc === undefined) return undefined
  // The field names come from the index's own definition.
  const amount = Reflect.get(doc, order.amount) as bigint | number
  if (order.isPositive && amount <= 0) return undefined
  if (order.where !== undefined && Reflect.get(doc, order.where) !== true) return undefined
  return { amount: BigInt(amount), name: Reflect.get(doc, order.member) as string }
}

/** The two fields by which a counted order sorts (`countedOrder`). */
export function standingFields({ by: [amount, member] }: Order): { readonly amount: string; readonly member: string } {
  return { amount: amount?.[0] ?? '', member: member?.[0] ?? '' }
}

/** Negative if `a` ranks before `b`. */
export const compareStandings = (a: Standing, b: Standing): number =>
  a.amount === b.amount ? compareNames(a.name, b.name) : a.amount > b.amount ? -1 : 1

/** Compares as the bytes of UTF-8 do, that is by code points; JavaScript compares UTF-16 units. */
function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left !== right) return weighUnit(left) - weighUnit(right)
  }
  return a.length - b.length
}

/** Surrogate pairs encode code points above all single units. */
const weighUnit = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit)

/** The standing after which a segment begins; undefined: at the top. */
export const getSegmentStart = ([amount, name]: Segment): Standing | undefined =>
  amount === '' ? undefined : { amount: BigInt(amount), name }

/**
 * Whether a segment begins before a standing whose amount is given in digits. Neither amount may have leading zeros.
 * Amounts are compared as text, because many segments are compared for each standing.
 */
export function isEarlierSegment(
  [amount, name]: Segment,
  standing: { readonly amount: string; readonly name: string },
): boolean {
  const { amount: other } = standing
  if (amount === '') return true
  if (amount === other) return compareNames(name, standing.name) < 0
  if (amount.startsWith('-') || other.startsWith('-')) return BigInt(amount) > BigInt(other)
  return amount.length === other.length ? amount > other : amount.length > other.length
}

/**
 * A predicate for documents within a range of a counted order. It allocates nothing, because all documents of
 * a batch are tested for each range.
 */
export function createRangeTest(order: CountedOrder, range: StandingRange): (doc: object) => boolean {
  const { group, amount, member, isPositive, where } = order
  const { group: ofGroup = '', after, until } = range
  // The field names come from the index's own definition.
  const fieldOf = (doc: object, name: string): unknown => (doc as Readonly<Record<string, unknown>>)[name]
  const isRanked = (doc: object, own: bigint | number): boolean =>
    !(isPositive && own <= 0) &&
    (group === undefined || fieldOf(doc, group) === ofGroup) &&
    (where === undefined || fieldOf(doc, where) === true)
  const isBehind = (own: bigint | number, name: string): boolean =>
    after === undefined || own < after.amount || compareNames(after.name, name) < 0
  const isBefore = (own: bigint | number, name: string): boolean =>
    until === undefined || own > until.amount || compareNames(name, until.name) <= 0
  return doc => {
    const own = fieldOf(doc, amount) as bigint | number
    // For most documents the amount alone decides.
    if (after !== undefined && own > after.amount) return false
    if (until !== undefined && own < until.amount) return false
    if (!isRanked(doc, own)) return false
    const name = fieldOf(doc, member) as string
    return isBehind(own, name) && isBefore(own, name)
  }
}
