import type { Key, StateIndex } from '#indices/registry.ts'

/** What names stand for: the things of which a block names many, and names them again and again. */
type Named =
  | 'account'
  | 'balance'
  | 'called'
  | 'contract'
  | 'failed'
  | 'holders'
  | 'moved'
  | 'paid'
  | 'ram'
  | 'received'
  | 'token'
  | 'token-day'

/** Collects keys of state, each once. */
export type NeededKeys = {
  readonly keys: readonly Key[]
  add(index: StateIndex, id: string): void
  /**
   * Whether the thing is named for the first time. In busy blocks five of six names are repetitions, and
   * recognizing one takes a tenth of the time of building its keys.
   * @param within what else the thing is named by, of which there are few: the token of a balance
   */
  isFirst(what: Named, name: string, within?: string): boolean
}

export const neededKeys = (): NeededKeys => {
  const keys: Key[] = []
  const ids = new Map<StateIndex, Set<string>>()
  const known = new Map<Named, Map<string, Set<string>>>()
  return {
    keys,
    add: (index, id) => {
      if (isNew(inner(ids, index, newSet), id)) keys.push({ index, id })
    },
    isFirst: (what, name, within = '') => isNew(inner(inner(known, what, newMap<Set<string>>), within, newSet), name),
  }
}

const newSet = (): Set<string> => new Set()
const newMap = <V>(): Map<string, V> => new Map()

const inner = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

/** Adds a text to a set; false: the set had it. */
const isNew = (set: Set<string>, text: string): boolean => {
  if (set.has(text)) return false
  set.add(text)
  return true
}
