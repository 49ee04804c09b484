import { withChanges } from '#derive/rankings.ts'
import type { Index } from '#indices/define.ts'
import type { StateChange, StateIndex } from '#indices/registry.ts'
import type { StandingRange } from '#indices/standing.ts'
import type { StateReader } from '#store/state-port.ts'

/** Documents of a generation; at most two generations are in memory, some 30 MB. */
const GENERATION = 30_000

type Doc = StateChange['doc']
type Docs = Map<StateIndex, Map<string, Doc | undefined>>

/**
 * The state as of the batch cut last: its documents while they are being committed, the recently used documents of the
 * store, and the store itself for all others.
 */
export type StateCache = {
  get(index: StateIndex, id: string): Doc | undefined
  members(range: StandingRange): Iterable<Doc>
  /** Documents of an index in the batch that is being committed. */
  committing(index: Index): readonly Doc[]
  /** Called when a batch begins to be committed. */
  begin(changes: readonly StateChange[]): void
  /** Called when that batch is in the store. */
  end(): void
}

export function openStateCache(stored: StateReader, generation = GENERATION): StateCache {
  /** Used since the last turn of generations, and in the generation before. */
  let young: Docs = new Map()
  let old: Docs = new Map()
  let size = 0
  let batch: Docs = new Map()
  const keep = (index: StateIndex, id: string, doc: Doc | undefined): Doc | undefined => {
    getDocMap(young, index).set(id, doc)
    size += 1
    if (size < generation) return doc
    old = young
    young = new Map()
    size = 0
    return doc
  }
  return {
    get: (index, id) => {
      const changed = batch.get(index)?.get(id)
      if (changed !== undefined) return changed
      const recent = young.get(index)
      const known = recent?.get(id)
      if (known !== undefined || recent?.has(id)) return known
      const before = old.get(index)
      if (before?.has(id)) return keep(index, id, before.get(id))
      return keep(index, id, stored.get(index, id) as Doc | undefined)
    },
    members: range => {
      const changed = batch.get(range.index as StateIndex)?.values() ?? []
      return withChanges(range, stored.members(range), changed as Iterable<Doc>).values()
    },
    committing: index => [...(batch.get(index as StateIndex)?.values() ?? [])] as readonly Doc[],
    begin: changes => {
      batch = new Map()
      for (const { index, doc } of changes) {
        getDocMap(batch, index).set(doc.id, doc)
        // A copy of the version before must not outlive the commit.
        if (young.get(index)?.has(doc.id)) getDocMap(young, index).set(doc.id, doc)
        else old.get(index)?.delete(doc.id)
      }
    },
    end: () => {
      batch = new Map()
    },
  }
}

function getDocMap(docs: Docs, index: StateIndex): Map<string, Doc | undefined> {
  let ofIndex = docs.get(index)
  if (ofIndex === undefined) {
    ofIndex = new Map()
    docs.set(index, ofIndex)
  }
  return ofIndex
}
