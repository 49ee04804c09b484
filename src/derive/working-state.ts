import type { DocOf } from '#indices/define.ts'
import type { Change, Key, StateIndex } from '#indices/registry.ts'
import { compareStandings, type Standing, type StandingRange } from '#indices/standing.ts'
import { countedOf, withChanges } from './members.ts'
import { Missing, type State } from './state.ts'

/** Result of looking up a document that was not fetched; `undefined` means that the store has none. */
export const UNKNOWN = 'unknown'

/** Reads fetched state; never waits. */
export type Lookup = (index: StateIndex, id: string) => Change['doc'] | undefined | typeof UNKNOWN

/** Documents of a counted order that stood in the range before the batch; `UNKNOWN`: they were not fetched. */
export type LookupRange = (range: StandingRange) => Iterable<Change['doc']> | typeof UNKNOWN

/** State of a batch in the making. */
export type WorkingState = State & {
  /** A block begins: from here `rollback` takes everything back. */
  mark(): void
  /** Undoes every `put` since `mark`. */
  rollback(): void
  /** Documents put since `mark`, as they are now. */
  changedSinceMark<I extends StateIndex>(index: I): readonly DocOf<I>[]
  /** A document as it was at `mark`, of those that were put. */
  atMark<I extends StateIndex>(index: I, id: string): DocOf<I> | undefined
  /** Documents put. */
  readonly size: number
  /**
   * The last word on each thing that is not as it was looked up, with what it was then; one change per (index, id), in
   * order of first change.
   */
  changes(): readonly Change[]
}

type Doc = Change['doc']
type Undo = { readonly name: string; readonly id: string; readonly before: Doc | undefined }
/** Documents put, and what was looked up when the first of each id was. */
type Written = {
  readonly index: StateIndex
  readonly docs: Map<string, Doc>
  readonly before: Map<string, Doc | undefined>
}

/** A `State` over fetched documents: a document that was put is seen immediately, and taken back by `rollback`. */
export const workingState = (lookup: Lookup, lookupRange: LookupRange = () => UNKNOWN): WorkingState => {
  const written = new Map<string, Written>()
  let undo: Undo[] = []

  const found = (index: StateIndex, id: string): Doc | undefined => {
    const own = written.get(index.name)?.docs.get(id)
    if (own !== undefined) return own
    return fetched(index, id)
  }
  const fetched = (index: StateIndex, id: string): Doc | undefined => {
    const doc = lookup(index, id)
    if (doc === UNKNOWN) throw new Missing([{ index, id } satisfies Key])
    return doc
  }
  const writtenOf = (index: StateIndex): Written => {
    const kept = written.get(index.name)
    if (kept !== undefined) return kept
    const none: Written = { index, docs: new Map(), before: new Map() }
    written.set(index.name, none)
    return none
  }
  return {
    get: <I extends StateIndex>(index: I, id: string) => found(index, id) as DocOf<I> | undefined,
    put: (index, doc) => {
      const { docs, before } = writtenOf(index)
      // Looked up now: it may be forgotten before the batch ends.
      if (!before.has(doc.id)) before.set(doc.id, fetched(index, doc.id))
      undo.push({ name: index.name, id: doc.id, before: docs.get(doc.id) })
      docs.set(doc.id, doc as Doc)
    },
    members: range => {
      const fetched = lookupRange(range)
      if (fetched === UNKNOWN) throw new Missing([], [range])
      const now = withChanges(range, fetched, written.get(range.index.name)?.docs.values() ?? [])
      return [...now.values()].map(doc => standingIn(range, doc)).sort(compareStandings)
    },
    mark: () => {
      undo = []
    },
    rollback: () => {
      for (let last = undo.pop(); last !== undefined; last = undo.pop()) {
        const docs = written.get(last.name)?.docs
        if (last.before === undefined) docs?.delete(last.id)
        else docs?.set(last.id, last.before)
      }
    },
    changedSinceMark: <I extends StateIndex>(index: I) => {
      const ids = new Set<string>()
      for (const { name, id } of undo) if (name === index.name) ids.add(id)
      return [...ids].map(id => written.get(index.name)?.docs.get(id) as unknown as DocOf<I>)
    },
    atMark: <I extends StateIndex>(index: I, id: string) => {
      const of = written.get(index.name)
      const first = undo.find(each => each.name === index.name && each.id === id)
      const doc = first === undefined ? of?.docs.get(id) : (first.before ?? of?.before.get(id))
      return doc as unknown as DocOf<I> | undefined
    },
    get size() {
      let size = 0
      for (const { docs } of written.values()) size += docs.size
      return size
    },
    changes: () => {
      const changes: Change[] = []
      for (const { index, docs, before: befores } of written.values())
        for (const doc of docs.values()) {
          const before = befores.get(doc.id)
          if (before === undefined) changes.push({ index, doc } as Change)
          else if (!sameValue(before, doc)) changes.push({ index, doc, before } as Change)
        }
      return changes
    },
  }
}

const standingIn = ({ index }: StandingRange, doc: Doc): Standing => {
  const standing = countedOf(index)?.standingOf(doc)
  if (standing === undefined)
    throw new TypeError(`${index.name} ${doc.id} was fetched, and is in no ranking.`)
  return standing
}

/** Equality of plain values: bigint, text, numbers, booleans, arrays and objects of them. */
const sameValue = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => sameValue(item, b[at]))
  const [left, right] = [Object.entries(a), Object.entries(b)]
  return left.length === right.length && left.every(([key, item]) => sameValue(item, Reflect.get(b, key)))
}
