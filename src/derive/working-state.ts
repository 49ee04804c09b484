import type { DocOf } from '#indices/define.ts'
import type { Key, StateChange, StateIndex } from '#indices/registry.ts'
import { compareStandings, findCountedOrder, findStanding, type StandingRange } from '#indices/standing.ts'
import { withChanges } from './rankings.ts'
import { MissingState, type State } from './state.ts'

/** Result of looking up a document that was not fetched; `undefined` means that the store has none. */
export const UNKNOWN = 'unknown'

/** Reads state at once. */
type StateLookup = (index: StateIndex, id: string) => StateChange['doc'] | undefined | typeof UNKNOWN

/** Documents of a counted order in the range before the batch. */
type LookupRange = (range: StandingRange) => Iterable<StateChange['doc']>

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
  /** Documents that differ from the version looked up, with that version; one per (index, id), by first change. */
  changes(): readonly StateChange[]
}

type Doc = StateChange['doc']
/** A document as looked up and as put; `doc` is undefined before the first put and after a rollback of it. */
type Cell = { doc: Doc | undefined; readonly before: Doc | undefined }
type Undo = { readonly index: StateIndex; readonly of: Cell; readonly before: Doc | undefined }

/** The documents of a batch that were looked up or put, by index and id. */
function createCells(lookup: StateLookup) {
  const cells = new Map<StateIndex, Map<string, Cell>>()
  const find = (index: StateIndex, id: string): Cell | undefined => cells.get(index)?.get(id)
  const open = (index: StateIndex, id: string, before: Doc | undefined): Cell => {
    const ofIndex = cells.get(index) ?? new Map<string, Cell>()
    const cell: Cell = { doc: undefined, before }
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
export function workingState(
  lookup: StateLookup,
  lookupRange: LookupRange = noMembers,
  lookupPublisher: LookupPublisher = () => UNKNOWN,
): WorkingState {
  const { find, open, lookUp } = createCells(lookup)
  /** The cells that were put, in order of their first put. */
  const written = new Map<StateIndex, Set<Cell>>()
  let undo: Undo[] = []
  let size = 0
  const write = (index: StateIndex, of: Cell, doc: Doc): void => {
    undo.push({ index, of, before: of.doc })
    if (of.doc === undefined) size += 1
    of.doc = doc
    written.set(index, (written.get(index) ?? new Set<Cell>()).add(of))
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
      const changed = listCellDocs(written.get(range.index as StateIndex))
      const now = withChanges(range, lookupRange(range), changed)
      const order = findCountedOrder(range.index)
      // All of them are in the ranking, or their number would not be that of the segments (`cutLeaf`).
      return [...now.values()].flatMap(doc => (order && findStanding(order, doc)) ?? []).sort(compareStandings)
    },
    publisherOf: hash => requirePublisher(lookupPublisher, hash),
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
      [...collectWrittenCells(undo, index)].map(({ doc }) => doc as unknown as DocOf<I>),
    atMark: <I extends StateIndex>(index: I, id: string) => {
      const of = find(index, id)
      const first = undo.find(each => each.of === of)
      const doc = first === undefined ? of?.doc : (first.before ?? of?.before)
      return doc as unknown as DocOf<I> | undefined
    },
    get size() {
      return size
    },
    changes: () => listStateChanges(written),
  }
}

function requirePublisher(lookup: LookupPublisher, hash: string): string | undefined {
  const publisher = lookup(hash)
  if (publisher === UNKNOWN) throw new MissingState({ hashes: [hash] })
  return publisher
}

const noMembers: LookupRange = ({ index }) => {
  throw new TypeError(`Members of ${index.name} cannot be read here.`)
}

/** Cells of an index that were written since the mark, each once. */
function collectWrittenCells(undo: readonly Undo[], index: StateIndex): ReadonlySet<Cell> {
  const changed = new Set<Cell>()
  for (const each of undo) if (each.index === index) changed.add(each.of)
  return changed
}

function listStateChanges(written: ReadonlyMap<StateIndex, ReadonlySet<Cell>>): readonly StateChange[] {
  const changes: StateChange[] = []
  for (const [index, ofIndex] of written)
    for (const each of ofIndex) {
      const change = toStateChange(index, each)
      if (change !== undefined) changes.push(change)
    }
  return changes
}

/**
 * undefined: the change was rolled back. A document that changed and changed back is a change, too: whether a document is
 * written must not depend on where a batch ends, or a loader that repeats blocks in other batches would leave one as it was
 * in between.
 */
function toStateChange(index: StateIndex, { doc, before }: Cell): StateChange | undefined {
  if (doc === undefined) return undefined
  return (before === undefined ? { index, doc } : { index, doc, before }) as StateChange
}

function* listCellDocs(written: ReadonlySet<Cell> | undefined): Iterable<Doc> {
  for (const { doc } of written ?? []) if (doc !== undefined) yield doc
}
