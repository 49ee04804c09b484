import type { Places } from './places.ts'

/** A request that waits for its turn. */
export type Waiter = {
  readonly key: string
  /** When it came, by the clock. */
  readonly since: number
  readonly start: () => void
  readonly refuse: (reason: Error) => void
}

/** Requests that wait, by key; keys take turns. */
export type WaitingLine = {
  readonly count: number
  /** False: there is no room. */
  add(waiter: Waiter): boolean
  /** False: it does not wait any more. */
  remove(waiter: Waiter): boolean
  /**
   * Takes out those that came at a time or before. What may start now stays, however late it is: a machine that stood
   * still for a while is not overloaded.
   */
  takeOld(until: number): readonly Waiter[]
  /**
   * The oldest of the key whose turn it is, every other time of the key that has fewest waiting: one that asks seldom,
   * and was late with all the others, need not wait for a round of theirs for each of its requests. The key goes to the
   * end of the turns.
   */
  next(): Waiter | undefined
  /** Whether one more of a key may wait; when all is full, instead of the latest of a key that has more of them. */
  roomFor(key: string): boolean | Waiter
}

/** What waits in this thread; `places` counts what waits in all. */
export const waitingLine = (
  places: Pick<Places, 'free' | 'waitingOf' | 'hasRoom' | 'enter' | 'quit'>,
  waitingOfKey: number,
): WaitingLine => {
  const placesFor = places.free
  // In the order in which keys get their turns.
  const keys = new Map<string, Set<Waiter>>()
  let count = 0
  let inTurn = true
  const remove = (waiter: Waiter): boolean => {
    const own = keys.get(waiter.key)
    if (own?.delete(waiter) !== true) return false
    if (own.size === 0) keys.delete(waiter.key)
    count -= 1
    places.quit(waiter.key)
    return true
  }
  return {
    get count() {
      return count
    },
    add: waiter => {
      if (!places.enter(waiter.key)) return false
      const own = keys.get(waiter.key) ?? new Set()
      keys.set(waiter.key, own.add(waiter))
      count += 1
      return true
    },
    remove,
    takeOld: until =>
      [...keys].flatMap(([key, own]) => {
        const late = [...own].slice(placesFor(key))
        const young = late.findIndex(({ since }) => since > until)
        return late.slice(0, young < 0 ? late.length : young).filter(remove)
      }),
    next: () => {
      const chosen = nextKey(keys, placesFor, inTurn)
      if (chosen === undefined) return undefined
      inTurn = !inTurn
      const [key, own] = chosen
      keys.delete(key)
      keys.set(key, own)
      const [waiter] = own
      return waiter
    },
    roomFor: key => {
      const own = places.waitingOf(key)
      if (own >= waitingOfKey) return false
      if (places.hasRoom()) return true
      let most: Set<Waiter> | undefined
      for (const each of keys.values()) if (each.size > (most?.size ?? own + 1)) most = each
      return most === undefined ? false : ([...most].at(-1) ?? false)
    },
  }
}

/** The first key that may start one, or of all such keys the one that has fewest waiting. */
const nextKey = (
  keys: ReadonlyMap<string, Set<Waiter>>,
  placesFor: (key: string) => number,
  inTurn: boolean,
): readonly [key: string, own: Set<Waiter>] | undefined => {
  let chosen: readonly [key: string, own: Set<Waiter>] | undefined
  for (const [key, own] of keys) {
    if (placesFor(key) === 0) continue
    if (inTurn) return [key, own]
    if (chosen === undefined || own.size < chosen[1].size) chosen = [key, own]
  }
  return chosen
}
