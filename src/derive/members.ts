import type { Index } from '#indices/define.ts'
import { countedOrderOf, type Standing, type StandingRange, standingOf, standsIn } from '#indices/standing.ts'

type Doc = { readonly id: string }
/** The counted order of an index, applied to its documents. */
export type Counted = {
  readonly index: Index
  readonly order: string
  readonly grouped: boolean
  /** `''` where the order has no groups. */
  readonly groupOf: (doc: Doc) => string
  /** undefined: the document is in the index, not in the ranking. */
  readonly standingOf: (doc: Doc | undefined) => Standing | undefined
  /** Whether a document stands in a range of this order. */
  readonly within: (range: StandingRange) => (doc: Doc) => boolean
}

const known = new Map<string, Counted | undefined>()

/** undefined: no order of the index is counted. */
export const countedOf = (index: Index): Counted | undefined => {
  if (!known.has(index.name)) known.set(index.name, countedFor(index))
  return known.get(index.name)
}

const countedFor = (index: Index): Counted | undefined => {
  const order = countedOrderOf(index)
  if (order === undefined) return undefined
  const { name, group } = order
  return {
    index,
    order: name,
    grouped: group !== undefined,
    groupOf: doc => (group === undefined ? '' : (Reflect.get(doc, group) as string)),
    standingOf: doc => (doc === undefined ? undefined : standingOf(order, doc)),
    within: range => standsIn(order, range),
  }
}

/** Documents of a range as they are after changes: those that left it are gone, those that came are there. */
export const withChanges = <D extends Doc>(
  range: StandingRange,
  docs: Iterable<D>,
  changed: Iterable<D>,
): ReadonlyMap<string, D> => {
  const isMember = countedOf(range.index)?.within(range) ?? (() => false)
  const now = new Map<string, D>()
  for (const doc of docs) now.set(doc.id, doc)
  for (const doc of changed) {
    if (isMember(doc)) now.set(doc.id, doc)
    else now.delete(doc.id)
  }
  return now
}
