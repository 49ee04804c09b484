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
  /** False: there is no room. The one that gives way to it is refused with `reason`. */
  add(waiter: Waiter, reason: Error): boolean
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
  hasRoomFor(key: string): boolean
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
  const forget = (waiter: Waiter): boolean => {
    const own = keys.get(waiter.key)
    if (own?.delete(waiter) !== true) return false
    if (own.size === 0) keys.delete(waiter.key)
    count -= 1
    return true
  }
  const remove = (waiter: Waiter): boolean => {
    const waited = forget(waiter)
    if (waited) places.quit(waiter.key)
    return waited
  }
  /**
   * The latest of the key that has most waiting in all threads, of those that wait in this one: a thread has less room
   * than all, and each of its few may be of another key.
   */
  const toGiveWay = (key: string): Waiter | undefined => {
    let most = places.waitingOf(key) + 1
    let latest: Waiter | undefined
    for (const [each, own] of keys) {
      const waiting = places.waitingOf(each)
      if (waiting <= most) continue
      most = waiting
      latest = [...own].at(-1)
    }
    return latest
  }
  return {
    get count() {
      return count
    },
    add: (waiter, reason) => {
      if (!places.enter(waiter.key)) {
        // One step, or another thread would take the place that is made.
        const instead = toGiveWay(waiter.key)
        if (instead === undefined || !places.enter(waiter.key, instead.key)) return false
        forget(instead)
        instead.refuse(reason)
      }
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
    hasRoomFor: key =>
      places.waitingOf(key) < waitingOfKey && (places.hasRoom() || toGiveWay(key) !== undefined),
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
