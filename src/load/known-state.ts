import { UNKNOWN } from '#derive/working-state.ts'
import type { Index } from '#indices/define.ts'
import type { Change, Key } from '#indices/registry.ts'
import type { Writer } from '#store/port.ts'
import { type Held, stateCache, unknownKeys } from './state-cache.ts'

/** State documents kept between batches, at most twice as many: some 30 MB. */
const CACHED = 30_000
/** Keys asked for in one call. */
const FETCHED_AT_ONCE = 5_000

type Doc = Change['doc']

/** State as the batch cut last leaves it, as far as it is known: that batch while it is on its way, and a cache. */
export type KnownState = {
  /** UNKNOWN: it is to be fetched; undefined: there is no such document. */
  get(key: Key): Doc | undefined | typeof UNKNOWN
  /** Fetches those of the documents that are not known. */
  fetch(keys: Iterable<Key>): Promise<void>
  /** Documents of an index in the batch on its way. */
  inFlight(index: Index): readonly Doc[]
  /** A batch goes on its way. */
  sent(changes: readonly Change[]): void
  /** The batch on its way is in the store. */
  arrived(): void
  /** Forgets documents that were not used recently. Those fetched after this call stay until the next one. */
  trim(): void
}

export const knownState = (getMany: Writer['getMany']): KnownState => {
  const cache = stateCache(CACHED)
  let flying: readonly Held[] = []
  let flyingDocs = new Map<Index, Doc[]>()
  const get: KnownState['get'] = ({ index, id }) => cache.get(index, id)
  return {
    get,
    fetch: async keys => {
      const unknown = unknownKeys(keys, key => get(key) !== UNKNOWN)
      for (let at = 0; at < unknown.length; at += FETCHED_AT_ONCE) {
        const asked = unknown.slice(at, at + FETCHED_AT_ONCE)
        const docs = await getMany(asked)
        asked.forEach((key, i) => {
          // Derived blocks may have fetched and changed it meanwhile: what is known is newer.
          if (get(key) === UNKNOWN) cache.set(key.index, key.id, docs[i])
        })
      }
    },
    inFlight: index => flyingDocs.get(index) ?? [],
    sent: changes => {
      flyingDocs = new Map()
      flying = changes.map(({ index, doc }) => {
        const docs = flyingDocs.get(index)
        if (docs === undefined) flyingDocs.set(index, [doc])
        else docs.push(doc)
        return cache.hold(index, doc)
      })
    },
    arrived: () => {
      // What nobody has asked for meanwhile is not kept, least of all as it was before: new holders come by the thousand.
      for (const held of flying) cache.release(held)
      flying = []
      flyingDocs = new Map()
    },
    trim: cache.trim,
  }
}
