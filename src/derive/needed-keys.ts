import type { Key, StateIndex } from '#indices/registry.ts'
import { namesByKind } from './names-by-kind.ts'

/** Kinds of things that a block names many times. */
type Named =
  | 'account'
  | 'action'
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
   * @param within the second name of a thing that has two: the token of a balance
   */
  isFirst(what: Named, name: string, within?: string): boolean
}

export const neededKeys = (): NeededKeys => {
  const keys: Key[] = []
  const ids = new Map<StateIndex, Set<string>>()
  const named = namesByKind<Named, true>()
  return {
    keys,
    add: (index, id) => {
      let known = ids.get(index)
      if (known === undefined) {
        known = new Set()
        ids.set(index, known)
      }
      if (known.has(id)) return
      known.add(id)
      keys.push({ index, id })
    },
    isFirst: (what, name, within = '') => {
      const names = named(what, within)
      if (names.has(name)) return false
      names.set(name, true)
      return true
    },
  }
}
