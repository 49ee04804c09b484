import type { DocOf } from '#indices/define.ts'
import type { Change, Key, StateIndex } from '#indices/registry.ts'
import { compareStandings, type Standing, type StandingRange } from '#indices/standing.ts'
import { countedOf, withChanges } from './rankings.ts'
import { MissingState, type State } from './state.ts'

/** Result of looking up a document that was not fetched; `undefined` means that the store has none. */
export const UNKNOWN = 'unknown'

/** Reads state at once. */
export type Lookup = (index: StateIndex, id: string) => Change['doc'] | undefined | typeof UNKNOWN

/** Documents of a counted order in the range before the batch. */
export type LookupRange = (range: StandingRange) => Iterable<Change['doc']>

/** Publisher of an executed transaction in an earlier block; `UNKNOWN`: it was not looked up. */
export type LookupPublisher = (hash: string) => string | undefined | typeof UNKNOWN

/** State of a batch while it is being built. */
export type WorkingState = State & {
  /** Starts a block: `rollback` returns the state to this point. */
  mark(): void
  /** Undoes every `put` since `mark`. */
  rollback(): void
  /** Documents put since `mark`, in their current version. */
  changedSinceMark<I extends StateIndex>(index: I): readonly DocOf<I>[]
  /** A document as it was at `mark`; only for documents that were put. */
  atMark<I extends StateIndex>(index: I, id: string): DocOf<I> | undefined
  /** Number of documents put. */
  readonly size: number
  /**
   * Each document that differs from the version that was looked up, with that version; one change per (index,
   * id), in order of first change.
   */
  changes(): readonly Change[]
}

type Doc = Change['doc']
/** A document as looked up and as put; `doc` is undefined before the first put and after a rollback of it. */
type Cell = { doc: Doc | undefined; readonly before: Doc | undefined; isListed: boolean }
type Undo = { readonly index: StateIndex; readonly of: Cell; readonly before: Doc | undefined }

/** The documents of a batch that were looked up or put, by index and id. */
const cellsOver = (lookup: Lookup) => {
  const cells = new Map<StateIndex, Map<string, Cell>>()
  const find = (index: StateIndex, id: string): Cell | undefined => cells.get(index)?.get(id)
  const open = (index: StateIndex, id: string, before: Doc | undefined): Cell => {
    const ofIndex = cells.get(index) ?? new Map<string, Cell>()
    const cell: Cell = { doc: undefined, before, isListed: false }
    cells.set(index, ofIndex.set(id, cell))
    return cell
  }
  /** Looked-up documents are kept until the batch ends: others may evict them, and most are read again. */
  const lookUp = (index: StateIndex, id: string): Cell => {
    const known = find(index, id)
    if (known !== undefined) return known
    const doc = lookup(index, id)
    if (doc === UNKNOWN) throw new MissingState({ keys: [{ index, id } satisfies Key] })
    return open(index, id, doc)
  }
  return { find, open, lookUp }
}

/** A `State` over stored documents: a put is visible at once, and `rollback` undoes it. */
export const workingState = (
  lookup: Lookup,
  lookupRange: LookupRange = noMembers,
  lookupPublisher: LookupPublisher = () => UNKNOWN,
): WorkingState => {
  const { find, open, lookUp } = cellsOver(lookup)
  /** The cells that were put, in order of their first put. */
  const written = new Map<StateIndex, Cell[]>()
  let undo: Undo[] = []
  let size = 0
  const write = (index: StateIndex, of: Cell, doc: Doc): void => {
    undo.push({ index, of, before: of.doc })
    if (of.doc === undefined) size += 1
    of.doc = doc
    if (of.isListed) return
    of.isListed = true
    const ofIndex = written.get(index)
    if (ofIndex === undefined) written.set(index, [of])
    else ofIndex.push(of)
  }
  return {
    get: <I extends StateIndex>(index: I, id: string) => {
      const { doc, before } = lookUp(index, id)
      return (doc ?? before) as unknown as DocOf<I> | undefined
    },
    put: <I extends StateIndex>(index: I, doc: DocOf<I>) => {
      const of = lookUp(index, doc.id)
      const last = of.doc ?? of.before
      write(index, of, doc as unknown as Doc)
      return last as unknown as DocOf<I> | undefined
    },
    add: (index, doc) => write(index, find(index, doc.id) ?? open(index, doc.id, undefined), doc as Doc),
    members: range => {
      const changed = docsIn(written.get(range.index as StateIndex))
      return standingsIn(range, lookupRange(range), changed)
    },
    publisherOf: hash => fetchedPublisher(lookupPublisher(hash), hash),
    mark: () => {
      undo = []
    },
    rollback: () => {
      for (const { of, before } of undo.splice(0).reverse()) {
        if (before === undefined) size -= 1
        of.doc = before
      }
    },
    changedSinceMark: <I extends StateIndex>(index: I) =>
      [...cellsIn(undo, index)].map(({ doc }) => doc as unknown as DocOf<I>),
    atMark: <I extends StateIndex>(index: I, id: string) => {
      const of = find(index, id)
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

/** Members of a range after changes, best first. */
const standingsIn = (range: StandingRange, stored: Iterable<Doc>, changed: Iterable<Doc>): readonly Standing[] => {
  const now = withChanges(range, stored, changed)
  return [...now.values()].map(doc => standingIn(range, doc)).sort(compareStandings)
}

const noMembers: LookupRange = ({ index }) => {
  throw new TypeError(`Members of ${index.name} cannot be read here.`)
}

const fetchedPublisher = (publisher: ReturnType<LookupPublisher>, hash: string): string | undefined => {
  if (publisher === UNKNOWN) throw new MissingState({ hashes: [hash] })
  return publisher
}

/** Cells of an index that were written since the mark, each once. */
const cellsIn = (undo: readonly Undo[], index: StateIndex): ReadonlySet<Cell> => {
  const changed = new Set<Cell>()
  for (const each of undo) if (each.index === index) changed.add(each.of)
  return changed
}

const changesIn = (written: ReadonlyMap<StateIndex, readonly Cell[]>): readonly Change[] => {
  const changes: Change[] = []
  for (const [index, ofIndex] of written)
    for (const each of ofIndex) {
      const change = changeOf(index, each)
      if (change !== undefined) changes.push(change)
    }
  return changes
}

/**
 * undefined: the change was rolled back. A document that changed and changed back is a change, too: whether a document is
 * written must not depend on where a batch ends. Otherwise a loader that repeats blocks in other batches, after a snapshot
 * was restored, would leave it unwritten, and another loader's file would keep what it was in between.
 */
const changeOf = (index: StateIndex, { doc, before }: Cell): Change | undefined => {
  if (doc === undefined) return undefined
  return (before === undefined ? { index, doc } : { index, doc, before }) as Change
}

function* docsIn(written: readonly Cell[] | undefined): Iterable<Doc> {
  for (const { doc } of written ?? []) if (doc !== undefined) yield doc
}

const standingIn = ({ index }: StandingRange, doc: Doc): Standing => {
  const standing = countedOf(index)?.standingOf(doc)
  if (standing === undefined) throw new TypeError(`${index.name} ${doc.id} was read as a member, and is in no ranking.`)
  return standing
}
