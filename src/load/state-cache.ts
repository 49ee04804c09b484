import { UNKNOWN } from '#derive/working-state.ts'
import type { Change, Key, StateIndex } from '#indices/registry.ts'

type Doc = Change['doc']

/**
 * Recently used state documents, bounded by number. There are two generations: documents in use stay in the young one; when
 * it is full it becomes the old one, and the former old one is dropped. Nothing is dropped between two calls of `trim`, so
 * the documents fetched for a run of blocks are there until the run is derived.
 */
export type StateCache = {
  get(index: StateIndex, id: string): Doc | undefined | typeof UNKNOWN
  set(index: StateIndex, id: string, doc: Doc | undefined): void
  trim(): void
  readonly size: number
}

export const stateCache = (capacity: number): StateCache => {
  type Generation = Map<string, Map<string, Doc | undefined>>
  let young: Generation = new Map()
  let old: Generation = new Map()
  let youngSize = 0
  let oldSize = 0

  const set = (index: StateIndex, id: string, doc: Doc | undefined): void => {
    let ofIndex = young.get(index.name)
    if (ofIndex === undefined) {
      ofIndex = new Map()
      young.set(index.name, ofIndex)
    }
    if (!ofIndex.has(id)) youngSize++
    ofIndex.set(id, doc)
  }
  return {
    get: (index, id) => {
      const ofYoung = young.get(index.name)
      const doc = ofYoung?.get(id)
      if (doc !== undefined || ofYoung?.has(id)) return doc
      const ofOld = old.get(index.name)
      if (!ofOld?.has(id)) return UNKNOWN
      const kept = ofOld.get(id)
      set(index, id, kept)
      return kept
    },
    set,
    trim: () => {
      if (youngSize < capacity) return
      old = young
      oldSize = youngSize
      young = new Map()
      youngSize = 0
    },
    get size() {
      return youngSize + oldSize
    },
  }
}

/** Keys without repetition, without those `known` has. */
export const unknownKeys = (keys: Iterable<Key>, known: (key: Key) => boolean): Key[] => {
  const seen = new Map<string, Set<string>>()
  const result: Key[] = []
  for (const key of keys) {
    let ids = seen.get(key.index.name)
    if (ids === undefined) {
      ids = new Set()
      seen.set(key.index.name, ids)
    }
    if (ids.has(key.id)) continue
    ids.add(key.id)
    if (!known(key)) result.push(key)
  }
  return result
}
