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
  /** A document as it was at `mark`, of those that were looked up. */
  atMark<I extends StateIndex>(index: I, id: string): DocOf<I> | undefined
  /** Documents put. */
  readonly size: number
  /**
   * The last word on each thing that is not as it was looked up, with what it was then; one change per (index, id), by
   * index, in order of first change.
   */
  changes(): readonly Change[]
}

type Doc = Change['doc']

/** A document of the batch: all that is known of it, so that finding one is one look-up whatever was done to it. */
type Cell = {
  readonly index: StateIndex
  /** As it was looked up, before the batch; it may be forgotten there before the batch ends. */
  readonly stored: Doc | undefined
  now: Doc | undefined
  isPut: boolean
  /** Number of the last block that put it, what it was when that block began, and whether an earlier one had put it. */
  block: number
  atMark: Doc | undefined
  wasPut: boolean
}

/** Documents of one index; `puts` are those that were put, in order of first change, even where that was taken back. */
type Cells = { readonly byId: Map<string, Cell>; readonly puts: Set<Cell> }

/** The documents of a batch, and which of them its last block has put. */
const batchCells = (lookup: Lookup) => {
  const cells = new Map<StateIndex, Cells>()
  let block = 0
  let touched: Cell[] = []
  let size = 0
  const ofIndex = (index: StateIndex): Cells => {
    const known = cells.get(index)
    if (known !== undefined) return known
    const fresh: Cells = { byId: new Map(), puts: new Set() }
    cells.set(index, fresh)
    return fresh
  }
  return {
    all: cells,
    get touched(): readonly Cell[] {
      return touched
    },
    get size() {
      return size
    },
    /** Throws `Missing` for a document that was not fetched. */
    find: (index: StateIndex, id: string): Cell => {
      const { byId } = ofIndex(index)
      const known = byId.get(id)
      if (known !== undefined) return known
      const stored = lookup(index, id)
      if (stored === UNKNOWN) throw new Missing([{ index, id } satisfies Key])
      const cell = { index, stored, now: stored, isPut: false, block: -1, atMark: stored, wasPut: false }
      byId.set(id, cell)
      return cell
    },
    isTouched: (cell: Cell): boolean => cell.block === block,
    /** Before its first change in a block. */
    touch: (cell: Cell): void => {
      cell.block = block
      cell.atMark = cell.now
      cell.wasPut = cell.isPut
      touched.push(cell)
      if (cell.isPut) return
      cell.isPut = true
      size += 1
      ofIndex(cell.index).puts.add(cell)
    },
    mark: (): void => {
      block += 1
      touched = []
    },
    rollback: (): void => {
      for (const cell of touched) {
        cell.now = cell.atMark
        cell.isPut = cell.wasPut
        cell.block = -1
        if (!cell.isPut) size -= 1
      }
      touched = []
    },
  }
}

/** A `State` over fetched documents: a document that was put is seen immediately, and taken back by `rollback`. */
export const workingState = (lookup: Lookup, lookupRange: LookupRange = () => UNKNOWN): WorkingState => {
  const cells = batchCells(lookup)
  return {
    get: <I extends StateIndex>(index: I, id: string) =>
      cells.find(index, id).now as unknown as DocOf<I> | undefined,
    put: (index, doc) => {
      const cell = cells.find(index, doc.id)
      if (!cells.isTouched(cell)) cells.touch(cell)
      cell.now = doc as Doc
    },
    members: range => {
      const fetched = lookupRange(range)
      if (fetched === UNKNOWN) throw new Missing([], [range])
      const now = withChanges(range, fetched, docsIn(cells.all.get(range.index as StateIndex)))
      return [...now.values()].map(doc => standingIn(range, doc)).sort(compareStandings)
    },
    get touched() {
      return cells.touched
    },
    mark: cells.mark,
    rollback: cells.rollback,
    changedSinceMark: <I extends StateIndex>(index: I) =>
      cells.touched.filter(cell => cell.index === index).map(({ now }) => now as unknown as DocOf<I>),
    atMark: <I extends StateIndex>(index: I, id: string) => {
      const cell = cells.all.get(index)?.byId.get(id)
      const doc = cell !== undefined && cells.isTouched(cell) ? cell.atMark : cell?.now
      return doc as unknown as DocOf<I> | undefined
    },
    get size() {
      return cells.size
    },
    changes: () => changesIn(cells.all),
  }
}

const changesIn = (cells: ReadonlyMap<StateIndex, Cells>): readonly Change[] => {
  const changes: Change[] = []
  for (const { puts } of cells.values())
    for (const cell of puts) {
      const change = changeOf(cell)
      if (change !== undefined) changes.push(change)
    }
  return changes
}

/** undefined: it was taken back, or is as it was looked up. */
const changeOf = ({ index, stored, now, isPut }: Cell): Change | undefined => {
  if (!isPut || now === undefined) return undefined
  if (stored === undefined) return { index, doc: now } as Change
  return sameValue(stored, now) ? undefined : ({ index, doc: now, before: stored } as Change)
}

function* docsIn(cells: Cells | undefined): Iterable<Doc> {
  for (const { now, isPut } of cells?.puts ?? []) if (isPut && now !== undefined) yield now
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
