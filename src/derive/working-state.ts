import type { DocOf } from '#indices/define.ts'
import type { Change, Key, StateIndex } from '#indices/registry.ts'
import { compareStandings, type Standing, type StandingRange } from '#indices/standing.ts'
import { countedOf, withChanges } from './rankings.ts'
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
/** A document that was put, and what was looked up when it was put first; `doc` is undefined while that is taken back. */
type Written = { doc: Doc | undefined; readonly before: Doc | undefined }
type Undo = { readonly index: StateIndex; readonly of: Written; readonly before: Doc | undefined }

/** A `State` over fetched documents: a document that was put is seen immediately, and taken back by `rollback`. */
export const workingState = (lookup: Lookup, lookupRange: LookupRange = () => UNKNOWN): WorkingState => {
  const written = new Map<StateIndex, Map<string, Written>>()
  let undo: Undo[] = []
  let size = 0
  const fetched = (index: StateIndex, id: string): Doc | undefined => {
    const doc = lookup(index, id)
    if (doc === UNKNOWN) throw new Missing([{ index, id } satisfies Key])
    return doc
  }
  /** `before`: what there was, for a document that is put first. */
  const write = (index: StateIndex, doc: Doc, before: () => Doc | undefined): void => {
    const of = written.get(index)?.get(doc.id) ?? begin(written, { index, id: doc.id }, before())
    undo.push({ index, of, before: of.doc })
    if (of.doc === undefined) size += 1
    of.doc = doc
  }
  return {
    get: <I extends StateIndex>(index: I, id: string) => {
      const doc = written.get(index)?.get(id)?.doc ?? lookup(index, id)
      if (doc === UNKNOWN) throw new Missing([{ index, id } satisfies Key])
      return doc as unknown as DocOf<I> | undefined
    },
    // Looked up now: it may be forgotten before the batch ends.
    put: (index, doc) => write(index, doc as Doc, () => fetched(index, doc.id)),
    add: (index, doc) => write(index, doc as Doc, () => undefined),
    members: range => {
      const fetched = lookupRange(range)
      if (fetched === UNKNOWN) throw new Missing([], [range])
      const now = withChanges(range, fetched, docsIn(written.get(range.index as StateIndex)))
      return [...now.values()].map(doc => standingIn(range, doc)).sort(compareStandings)
    },
    mark: () => {
      undo = []
    },
    rollback: () => {
      for (const { of, before } of undo.splice(0).reverse()) {
        if (before === undefined) size -= 1
        of.doc = before
      }
    },
    changedSinceMark: <I extends StateIndex>(index: I) => {
      const changed = new Set<Written>()
      for (const each of undo) if (each.index === index) changed.add(each.of)
      return [...changed].map(({ doc }) => doc as unknown as DocOf<I>)
    },
    atMark: <I extends StateIndex>(index: I, id: string) => {
      const of = written.get(index)?.get(id)
      const first = undo.find(each => each.of === of)
      const doc = first === undefined ? of?.doc : (first.before ?? of?.before)
      return doc as unknown as DocOf<I> | undefined
    },
    get size() {
      return size
    },
    changes: () => changesIn(written),
  }
}

const begin = (
  written: Map<StateIndex, Map<string, Written>>,
  { index, id }: Key,
  before: Doc | undefined,
): Written => {
  const ofIndex = written.get(index) ?? new Map<string, Written>()
  const none: Written = { doc: undefined, before }
  written.set(index, ofIndex.set(id, none))
  return none
}

const changesIn = (written: ReadonlyMap<StateIndex, ReadonlyMap<string, Written>>): readonly Change[] => {
  const changes: Change[] = []
  for (const [index, ofIndex] of written)
    for (const each of ofIndex.values()) {
      const change = changeOf(index, each)
      if (change !== undefined) changes.push(change)
    }
  return changes
}

/** undefined: it was taken back, or is as it was looked up. */
const changeOf = (index: StateIndex, { doc, before }: Written): Change | undefined => {
  if (doc === undefined) return undefined
  if (before === undefined) return { index, doc } as Change
  return sameValue(before, doc) ? undefined : ({ index, doc, before } as Change)
}

function* docsIn(written: ReadonlyMap<string, Written> | undefined): Iterable<Doc> {
  for (const { doc } of written?.values() ?? []) if (doc !== undefined) yield doc
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
  // Nearly all documents that are compared differ, in one of their first values.
  for (const name in a) if (!sameValue(Reflect.get(a, name), Reflect.get(b, name))) return false
  return Object.keys(a).length === Object.keys(b).length
}
