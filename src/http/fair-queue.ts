import { drainMicrotasks } from 'bun:jsc'
import type { Clock } from '#time/clock.ts'
import { Told } from './told.ts'

/** What is worked on at once and what may wait for it, in all and of one key; longest wait in milliseconds. */
export type Limits = {
  readonly running: number
  readonly runningOfKey: number
  readonly waiting: number
  readonly waitingOfKey: number
  readonly ageMs: number
}

/** A place among those that are worked on. */
export type Place = {
  /** Gives the place to the next; what goes on without it must be bounded elsewhere. */
  leave(): void
}

/** Refused before anything was done. */
export class Busy extends Told {}

export type FairQueue = {
  /** Throws 'unavailable' when `run` would; at once, for those who have not begun anything yet. */
  check(key: string): void
  /** Whether so many wait that some key may have no room; as cheap as can be, for who asks before the key is known. */
  isCrowded(): boolean
  /**
   * Runs `work` when it is its turn; its place is held until the work itself has ended. Throws 'unavailable' when too
   * many wait or the wait was too long, and what `signal` aborts with while it waits.
   */
  run<T>(key: string, work: (place: Place) => Promise<T>, signal: AbortSignal): Promise<T>
}

/** Work goes on for so long before requests that came meanwhile are looked at, or for as long as that took. */
const SLICE_MS = 10

type Waiter = {
  readonly key: string
  readonly since: number
  readonly start: () => void
  readonly refuse: (reason: Error) => void
}

/**
 * Lets keys take turns, however many requests each of them has. Nothing starts in the turn of the event loop in which
 * it came: a store that answers at once would otherwise keep the loop until all are served, and nobody would be refused.
 */
export const fairQueue = (limits: Limits, clock: Clock): FairQueue => {
  // In the order in which keys get their turns.
  const waiting = new Map<string, Set<Waiter>>()
  const running = new Map<string, number>()
  let waits = 0
  let runs = 0
  let isDue = false
  let inTurn = true
  /** When work was last left for new requests. */
  let paused = performance.now()
  let watch: (() => void) | undefined

  const remove = (waiter: Waiter): boolean => {
    const own = waiting.get(waiter.key)
    if (own?.delete(waiter) !== true) return false
    if (own.size === 0) waiting.delete(waiter.key)
    waits -= 1
    return true
  }
  /** How many of a key may start now. */
  const placesFor = (key: string): number =>
    Math.max(0, Math.min(limits.running - runs, limits.runningOfKey - (running.get(key) ?? 0)))
  /** What may start now is not refused, however late it is: a machine that stood still for a while is not overloaded. */
  const refuseOld = (): void => {
    const oldest = clock.now() - limits.ageMs
    for (const [key, own] of waiting)
      for (const waiter of [...own].slice(placesFor(key))) {
        if (waiter.since > oldest) break
        if (remove(waiter)) waiter.refuse(tooLong(limits.ageMs))
      }
  }
  const keepWatch = (): void => {
    if (watch !== undefined || waits === 0) return
    watch = clock.after(limits.ageMs / 4, () => {
      watch = undefined
      refuseOld()
      keepWatch()
    })
  }
  /**
   * The oldest of the key whose turn it is, every other time of the key that has fewest waiting: one that asks seldom,
   * and was late with all the others, need not wait for a round of theirs for each of its requests. The key goes to the
   * end of the turns.
   */
  const next = (): Waiter | undefined => {
    let chosen: { readonly key: string; readonly own: Set<Waiter> } | undefined
    for (const [key, own] of waiting) {
      if (placesFor(key) === 0) continue
      if (chosen === undefined || own.size < chosen.own.size) chosen = { key, own }
      if (inTurn) break
    }
    if (chosen === undefined) return undefined
    inTurn = !inTurn
    const { key, own } = chosen
    waiting.delete(key)
    waiting.set(key, own)
    const [waiter] = own
    return waiter
  }
  const go = (): void => {
    isDue = false
    refuseOld()
    const began = performance.now()
    const until = began + Math.max(SLICE_MS, began - paused)
    for (let waiter = next(); waiter !== undefined; waiter = next()) {
      remove(waiter)
      waiter.start()
      // What a store answers at once is answered now, so that the time it takes is seen.
      drainMicrotasks()
      if (performance.now() < until) continue
      goSoon()
      break
    }
    paused = performance.now()
  }
  const goSoon = (): void => {
    if (isDue) return
    isDue = true
    if (waits <= 1) paused = performance.now()
    setImmediate(go)
  }
  const placeOf = (key: string): Place => {
    runs += 1
    running.set(key, (running.get(key) ?? 0) + 1)
    let isHeld = true
    return {
      leave: () => {
        if (!isHeld) return
        isHeld = false
        runs -= 1
        const left = (running.get(key) ?? 1) - 1
        if (left === 0) running.delete(key)
        else running.set(key, left)
        if (waits > 0) goSoon()
      },
    }
  }
  /** Whether one more of a key may wait; when all is full, instead of the latest of a key that has more of them. */
  const roomFor = (key: string): boolean | Waiter => {
    const own = waiting.get(key)?.size ?? 0
    if (own >= limits.waitingOfKey) return false
    if (waits < limits.waiting) return true
    let most: Set<Waiter> | undefined
    for (const each of waiting.values()) if (each.size > (most?.size ?? own + 1)) most = each
    return most === undefined ? false : ([...most].at(-1) ?? false)
  }

  return {
    check: key => {
      if (roomFor(key) === false) throw TOO_MANY
    },
    isCrowded: () => waits >= Math.min(limits.waiting, limits.waitingOfKey),
    run: async (key, work, signal) => {
      signal.throwIfAborted()
      const room = roomFor(key)
      if (room === false) throw TOO_MANY
      if (room !== true && remove(room)) room.refuse(TOO_MANY)
      const turn = Promise.withResolvers<Place>()
      const waiter: Waiter = {
        key,
        since: clock.now(),
        start: () => turn.resolve(placeOf(key)),
        refuse: turn.reject,
      }
      const own = waiting.get(key) ?? new Set()
      waiting.set(key, own.add(waiter))
      waits += 1
      const abort = (): void => {
        if (remove(waiter)) turn.reject(signal.reason)
      }
      signal.addEventListener('abort', abort, { once: true })
      keepWatch()
      goSoon()
      try {
        const place = await turn.promise
        try {
          return await work(place)
        } finally {
          place.leave()
        }
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
  }
}

/** One for all: it is thrown most when there is least time. */
const TOO_MANY = new Busy('unavailable', 'The service is busy: too many requests are waiting.', {
  zh: '服务繁忙：排队等待的请求过多。',
  details: { retryAfter: 1 },
})

const tooLong = (ageMs: number): Busy =>
  new Busy('unavailable', `The service is busy: this request waited for ${ageMs} ms.`, {
    zh: `服务繁忙：此请求已排队等待 ${ageMs} 毫秒。`,
    details: { retryAfter: 1 },
  })
