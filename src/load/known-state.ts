import { withChanges } from '#derive/rankings.ts'
import { UNKNOWN } from '#derive/working-state.ts'
import type { Index } from '#indices/define.ts'
import type { Change, Key, StateIndex } from '#indices/registry.ts'
import type { Standing, StandingRange } from '#indices/standing.ts'
import type { Writer } from '#store/port.ts'

/** State documents kept between batches, at most twice as many: some 30 MB. */
const CACHED = 30_000
/** Keys asked for in one call. */
const FETCHED_AT_ONCE = 5_000

type Doc = Change['doc']

/**
 * The part of the state as of the batch cut last that is in memory: that batch while it is on its way, documents recently
 * used, bounded by number, and the members of rankings that the block being derived needs. Nothing is dropped between two
 * calls of `trim`, so the documents fetched for a run of blocks are there until the run is derived.
 */
export type KnownState = {
  /** UNKNOWN: it is to be fetched; undefined: there is no such document. */
  get(index: StateIndex, id: string): Doc | undefined | typeof UNKNOWN
  /** Members that were fetched for this block. */
  members(range: StandingRange): readonly Doc[] | typeof UNKNOWN
  /** Fetches those of the documents that are not known. */
  fetch(keys: readonly Key[]): Promise<void>
  fetchMembers(ranges: readonly StandingRange[]): Promise<void>
  /** The block is derived. */
  forgetMembers(): void
  /** Documents of an index in the batch on its way. */
  inFlight(index: Index): readonly Doc[]
  /** A batch goes on its way. */
  sent(changes: readonly Change[]): void
  /** The batch on its way is in the store; its documents are known until the next `trim`. */
  arrived(): void
  /** Forgets documents that were not used recently, and those of arrived batches that nobody has asked for since. */
  trim(): void
  /** Rises whenever what was known may have been forgotten. */
  readonly losses: number
}

export const knownState = ({ getMany, members }: Pick<Writer, 'getMany' | 'members'>): KnownState => {
  const cache = stateCache(CACHED)
  const ranges = new Map<string, readonly Doc[]>()
  let flying: readonly Held[] = []
  let landed: Held[] = []
  let flyingDocs = new Map<Index, Doc[]>()
  let losses = 0
  const inFlight: KnownState['inFlight'] = index => flyingDocs.get(index) ?? []
  return {
    get: cache.get,
    members: range => ranges.get(nameOf(range)) ?? UNKNOWN,
    fetch: async keys => {
      const unknown = unknownKeys(keys, cache)
      for (let at = 0; at < unknown.length; at += FETCHED_AT_ONCE) {
        const asked = unknown.slice(at, at + FETCHED_AT_ONCE)
        const docs = await getMany(asked)
        // Derived blocks may have fetched and changed it meanwhile: what is known is newer.
        for (const [i, { index, id }] of asked.entries())
          if (cache.get(index, id) === UNKNOWN) cache.set(index, id, docs[i])
      }
    },
    fetchMembers: async missing => {
      for (const range of missing) {
        // Taken before the store is asked: the batch may arrive meanwhile, and be forgotten here.
        const changed = inFlight(range.index)
        const found = withChanges(range, await members(range), changed)
        ranges.set(nameOf(range), [...found.values()])
      }
    },
    forgetMembers: () => ranges.clear(),
    inFlight,
    get losses() {
      return losses
    },
    sent: changes => {
      losses += 1
      flyingDocs = new Map()
      flying = changes.map(({ index, doc }) => {
        const docs = flyingDocs.get(index)
        if (docs === undefined) flyingDocs.set(index, [doc])
        else docs.push(doc)
        return cache.hold(index, doc)
      })
    },
    arrived: () => {
      for (const held of flying) landed.push(held)
      flying = []
      flyingDocs = new Map()
    },
    trim: () => {
      // What nobody has asked for meanwhile is not kept, least of all as it was before: new holders come by the thousand.
      for (const held of landed) cache.release(held)
      landed = []
      if (cache.trim()) losses += 1
    },
  }
}

const nameOf = ({ index, group, after, until }: StandingRange): string =>
  JSON.stringify([index.name, group ?? '', textOf(after), textOf(until)])

const textOf = (standing: Standing | undefined) =>
  standing === undefined ? [] : [String(standing.amount), standing.name]

/** Keys without repetition, without those that are known. */
export const unknownKeys = (keys: readonly Key[], known: Pick<StateCache, 'get'>): Key[] => {
  const seen = new Map<StateIndex, Set<string>>()
  const result: Key[] = []
  for (const key of keys) {
    const { index, id } = key
    // First, as nearly all are known.
    if (known.get(index, id) !== UNKNOWN) continue
    let ids = seen.get(index)
    if (ids === undefined) {
      ids = new Set()
      seen.set(index, ids)
    }
    if (ids.has(id)) continue
    ids.add(id)
    result.push(key)
  }
  return result
}

/**
 * State documents between the store and derivation: those recently used, bounded by number, and those of the batch on its
 * way. Each has one cell, so that finding one is one look-up wherever it came from.
 */
export type StateCache = {
  get(index: StateIndex, id: string): Doc | undefined | typeof UNKNOWN
  set(index: StateIndex, id: string, doc: Doc | undefined): void
  /** Sets a document that stays until it is released, and of which it is then known whether anybody has asked for it. */
  hold(index: StateIndex, doc: Doc): Held
  /** Lets go of what was held: the cell stays when it was asked for, else it is UNKNOWN from now on. */
  release(held: Held): void
  /** Whether any was forgotten. */
  trim(): boolean
  readonly size: number
}

/** A document that is held in the cache. */
export type Held = { readonly doc: Doc | undefined | typeof UNKNOWN }

type Cell = {
  doc: Doc | undefined | typeof UNKNOWN
  /** The generation in which it was used last; NEVER: not since it is held. */
  used: number
  /** Batches that hold it. */
  holds: number
}
type Cells = Map<StateIndex, Map<string, Cell>>

const NEVER = -1

export const stateCache = (capacity: number): StateCache => {
  const cells: Cells = new Map()
  /** Begins anew when `capacity` documents were used in it. */
  let generation = 0
  let inUse = 0
  /** Cells that hold nothing any more. */
  let empty = 0

  const use = (cell: Cell): void => {
    if (cell.used !== generation) inUse += 1
    cell.used = generation
  }
  const put = (index: StateIndex, id: string, doc: Doc | undefined): Cell => {
    const cell = cellOf(cells, index, id)
    if (cell.doc === UNKNOWN) empty -= 1
    cell.doc = doc
    return cell
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
    hold: (index, doc) => {
      const cell = put(index, doc.id, doc)
      if (cell.used === generation) inUse -= 1
      cell.used = NEVER
      cell.holds += 1
      return cell
    },
    release: held => {
      const cell = held as Cell
      cell.holds -= 1
      if (cell.holds > 0 || cell.used !== NEVER || cell.doc === UNKNOWN) return
      cell.doc = UNKNOWN
      empty += 1
    },
    trim: () => {
      if (inUse >= capacity) {
        sweep(({ doc, used, holds }) => holds > 0 || (used === generation && doc !== UNKNOWN))
        generation += 1
        inUse = 0
        return true
      }
      if (empty >= capacity) sweep(({ doc }) => doc !== UNKNOWN)
      return false
    },
    get size() {
      return cells.values().reduce((sum, ofIndex) => sum + ofIndex.size, 0) - empty
    },
  }
}

/** The cell of a document, made where there is none. */
const cellOf = (cells: Cells, index: StateIndex, id: string): Cell => {
  let ofIndex = cells.get(index)
  if (ofIndex === undefined) {
    ofIndex = new Map()
    cells.set(index, ofIndex)
  }
  let cell = ofIndex.get(id)
  if (cell === undefined) {
    cell = { doc: undefined, used: NEVER, holds: 0 }
    ofIndex.set(id, cell)
  }
  return cell
}

/** A map of those cells alone: to delete the others one by one costs more. */
const withThose = (cells: ReadonlyMap<string, Cell>, keeps: (cell: Cell) => boolean): Map<string, Cell> => {
  const left = new Map<string, Cell>()
  for (const [id, cell] of cells) if (keeps(cell)) left.set(id, cell)
  return left
}
