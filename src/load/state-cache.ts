import { UNKNOWN } from '#derive/working-state.ts'
import type { Change, Key, StateIndex } from '#indices/registry.ts'

type Doc = Change['doc']

/**
 * State documents between the store and derivation: those recently used, bounded by number, and those of the batch on its
 * way. Each has one cell, so that finding one is one look-up wherever it came from. Nothing is dropped between two calls of
 * `trim`, so the documents fetched for a run of blocks are there until the run is derived.
 */
export type StateCache = {
  get(index: StateIndex, id: string): Doc | undefined | typeof UNKNOWN
  set(index: StateIndex, id: string, doc: Doc | undefined): void
  /** From now on it is UNKNOWN. */
  forget(index: StateIndex, id: string): void
  /** Sets a document that stays until it is released, and of which it is then known whether anybody has asked for it. */
  hold(index: StateIndex, doc: Doc): Held
  /** Lets go of what was held: the cell stays when it was asked for, else it is UNKNOWN from now on. */
  release(held: Held): void
  trim(): void
  readonly size: number
}

/** A document that is held in the cache. */
export type Held = { readonly doc: Doc | undefined | typeof UNKNOWN }

type Cell = {
  doc: Doc | undefined | typeof UNKNOWN
  /** The generation in which it was used last; NEVER: not since it is held. */
  used: number
  held: boolean
}

const NEVER = -1

export const stateCache = (capacity: number): StateCache => {
  const cells = new Map<StateIndex, Map<string, Cell>>()
  /** Begins anew when `capacity` documents were used in it. */
  let generation = 0
  let inUse = 0
  /** Cells that hold nothing any more. */
  let empty = 0

  const use = (cell: Cell): void => {
    if (cell.used === generation) return
    cell.used = generation
    inUse += 1
  }
  const unuse = (cell: Cell): void => {
    if (cell.used === generation) inUse -= 1
    cell.used = NEVER
  }
  /** The cell of a document, which it holds from now on. */
  const put = (index: StateIndex, id: string, doc: Doc | undefined): Cell => {
    const ofIndex = cells.get(index) ?? new Map<string, Cell>()
    cells.set(index, ofIndex)
    const known = ofIndex.get(id)
    if (known !== undefined) {
      if (known.doc === UNKNOWN) empty -= 1
      known.doc = doc
      return known
    }
    const cell = { doc, used: NEVER, held: false }
    ofIndex.set(id, cell)
    return cell
  }
  const clear = (cell: Cell): void => {
    if (cell.doc === UNKNOWN) return
    unuse(cell)
    cell.doc = UNKNOWN
    empty += 1
  }
  const sweep = (keeps: (cell: Cell) => boolean): void => {
    for (const [index, ofIndex] of cells) cells.set(index, withThose(ofIndex, keeps))
    empty = 0
  }
  return {
    get: (index, id) => {
      const cell = cells.get(index)?.get(id)
      if (cell === undefined || cell.doc === UNKNOWN) return UNKNOWN
      use(cell)
      return cell.doc
    },
    set: (index, id, doc) => use(put(index, id, doc)),
    forget: (index, id) => {
      const cell = cells.get(index)?.get(id)
      if (cell !== undefined) clear(cell)
    },
    hold: (index, doc) => {
      const cell = put(index, doc.id, doc)
      unuse(cell)
      cell.held = true
      return cell
    },
    release: held => {
      const cell = held as Cell
      cell.held = false
      if (cell.used === NEVER) clear(cell)
    },
    trim: () => {
      if (inUse >= capacity) {
        sweep(({ doc, used, held }) => held || (used === generation && doc !== UNKNOWN))
        generation += 1
        inUse = 0
      } else if (empty >= capacity) sweep(({ doc }) => doc !== UNKNOWN)
    },
    get size() {
      return cells.values().reduce((sum, ofIndex) => sum + ofIndex.size, 0) - empty
    },
  }
}

/** Taking the others out one by one costs more. */
const withThose = (cells: ReadonlyMap<string, Cell>, keeps: (cell: Cell) => boolean): Map<string, Cell> => {
  const left = new Map<string, Cell>()
  for (const [id, cell] of cells) if (keeps(cell)) left.set(id, cell)
  return left
}

/** Keys without repetition, without those `known` has. */
export const unknownKeys = (keys: Iterable<Key>, known: (key: Key) => boolean): Key[] => {
  const seen = new Map<string, Set<string>>()
  const result: Key[] = []
  for (const key of keys) {
    // First, as nearly all are known.
    if (known(key)) continue
    let ids = seen.get(key.index.name)
    if (ids === undefined) {
      ids = new Set()
      seen.set(key.index.name, ids)
    }
    if (ids.has(key.id)) continue
    ids.add(key.id)
    result.push(key)
  }
  return result
}
