import type { Index } from '#indices/define.ts'
import { countedOrderOf, isWithin, type Standing, type StandingRange } from '#indices/standing.ts'

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
  const { name, group, amount, member } = order
  // The fields are those of the index's own definition.
  const value = (doc: Doc, field: string) => (doc as unknown as Readonly<Record<string, unknown>>)[field]
  return {
    index,
    order: name,
    grouped: group !== undefined,
    groupOf: doc => (group === undefined ? '' : (value(doc, group) as string)),
    standingOf: doc => {
      const held = doc === undefined ? 0n : (value(doc, amount) as bigint)
      return doc !== undefined && held > 0n ? { amount: held, name: value(doc, member) as string } : undefined
    },
  }
}

/** Documents of a range as they are after changes: those that left it are gone, those that came are there. */
export const withChanges = <D extends Doc>(
  range: StandingRange,
  docs: Iterable<D>,
  changed: Iterable<D>,
): ReadonlyMap<string, D> => {
  const counted = countedOf(range.index)
  const now = new Map<string, D>()
  for (const doc of docs) now.set(doc.id, doc)
  for (const doc of changed) {
    const standing = counted?.groupOf(doc) === (range.group ?? '') ? counted.standingOf(doc) : undefined
    if (standing !== undefined && isWithin(standing, range)) now.set(doc.id, doc)
    else now.delete(doc.id)
  }
  return now
}
