import { withChanges } from '#derive/rankings.ts'
import { UNKNOWN } from '#derive/working-state.ts'
import type { Index } from '#indices/define.ts'
import type { Change, Key, StateIndex } from '#indices/registry.ts'
import type { Standing, StandingRange } from '#indices/standing.ts'
import type { Writer } from '#store/port.ts'

/** State documents kept between batches; at most twice this number, some 30 MB. */
const CACHED = 30_000
/** Number of keys per query. */
const FETCHED_AT_ONCE = 5_000

type Doc = Change['doc']

/**
 * The part of the state as of the batch cut last that is in memory: that batch while it is being committed, recently
 * used documents, limited in number, and the members of rankings that the current block needs. Nothing is evicted
 * between two calls of `trim`, so the documents fetched for a run of blocks are there until the run is derived.
 */
export type KnownState = {
  /** UNKNOWN: the document was not fetched; undefined: there is no such document. */
  get(index: StateIndex, id: string): Doc | undefined | typeof UNKNOWN
  /** Members that were fetched for the current block. */
  members(range: StandingRange): readonly Doc[] | typeof UNKNOWN
  /** Fetches those of the documents that are not known. */
  fetch(keys: readonly Key[]): Promise<void>
  fetchMembers(ranges: readonly StandingRange[]): Promise<void>
  /** Drops the members, once the block is derived. */
  forgetMembers(): void
  /** Documents of an index in the batch that is being committed. */
  inFlight(index: Index): readonly Doc[]
  /** Called when a batch begins to be committed. */
  sent(changes: readonly Change[]): void
  /** Called when that batch is in the store; its documents stay known until the next `trim`. */
  arrived(): void
  /** Evicts documents that were not used recently, and those of stored batches that were not read since. */
  trim(): void
  /** Increases whenever known documents may have been dropped. */
  readonly losses: number
}

export const knownState = ({ getMany, members }: Pick<Writer, 'getMany' | 'members'>): KnownState => {
  const cache = stateCache(CACHED)
  const ranges = new Map<string, readonly Doc[]>()
  let flying: readonly CachedDoc[] = []
  let landed: CachedDoc[] = []
  let flyingDocs = new Map<Index, Doc[]>()
  let losses = 0
  const inFlight: KnownState['inFlight'] = index => flyingDocs.get(index) ?? []
  return {
    get: cache.get,
    members: range => ranges.get(nameOf(range)) ?? UNKNOWN,
    fetch: async keys => {
      const unknown = unknownKeys(keys, cache)
      for (let at = 0; at < unknown.length; at += FETCHED_AT_ONCE) {
        const chunk = unknown.slice(at, at + FETCHED_AT_ONCE)
        const docs = await getMany(chunk)
        // Derived blocks may have fetched and changed the document meanwhile, so the known one is newer.
        for (const [i, { index, id }] of chunk.entries())
          if (cache.get(index, id) === UNKNOWN) cache.set(index, id, docs[i])
      }
    },
    fetchMembers: async missing => {
      for (const range of missing) {
        // Read before the query: the batch may reach the store meanwhile, and be dropped here.
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
      // Documents that were not read meanwhile are dropped, including their earlier versions: new holders
      // come by the thousand.
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

/** The keys that are not known, without repetition. */
export const unknownKeys = (keys: readonly Key[], known: Pick<StateCache, 'get'>): Key[] => {
  const seen = new Map<StateIndex, Set<string>>()
  const result: Key[] = []
  for (const key of keys) {
    const { index, id } = key
    // Checked first, since nearly all keys are known.
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
 * State documents between the store and derivation: recently used ones, limited in number, and those of the batch that
 * is being committed. Each document has one cell, so that a lookup takes one step whatever its origin.
 */
export type StateCache = {
  get(index: StateIndex, id: string): Doc | undefined | typeof UNKNOWN
  set(index: StateIndex, id: string, doc: Doc | undefined): void
  /** Sets a document that stays until it is released, and records from then on whether it is read. */
  hold(index: StateIndex, doc: Doc): CachedDoc
  /** Releases a held document: it stays if it was read meanwhile; otherwise it becomes UNKNOWN. */
  release(held: CachedDoc): void
  /** Evicts documents; returns whether there were any. */
  trim(): boolean
  readonly size: number
}

/** A document held in the cache. */
export type CachedDoc = { readonly doc: Doc | undefined | typeof UNKNOWN }

type Cell = {
  doc: Doc | undefined | typeof UNKNOWN
  /** The generation of its last use; NEVER: not used since it is held. */
  used: number
  /** Number of batches that hold it. */
  holds: number
}
type Cells = Map<StateIndex, Map<string, Cell>>

const NEVER = -1

export const stateCache = (capacity: number): StateCache => {
  const cells: Cells = new Map()
  /** Incremented when `capacity` documents were used in it. */
  let generation = 0
  let inUse = 0
  /** Number of cells without a document. */
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

/** The cell of a document; created if there is none. */
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

/** A map of only the cells to keep: deleting the others one by one costs more. */
const withThose = (cells: ReadonlyMap<string, Cell>, keeps: (cell: Cell) => boolean): Map<string, Cell> => {
  const left = new Map<string, Cell>()
  for (const [id, cell] of cells) if (keeps(cell)) left.set(id, cell)
  return left
}
