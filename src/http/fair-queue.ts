import { drainMicrotasks } from 'bun:jsc'
import { PublicFailure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { openPlaces, type Places } from './places.ts'
import { type Bounds, type PlacesMemory, placesMemory } from './places-memory.ts'
import { type Waiter, type WaitingLine, waitingLine } from './waiting-line.ts'

/** What runs and waits at most, and the longest wait in milliseconds. */
export type Limits = Bounds & { readonly ageMs: number }

/** Where a thread counts together with others, and its number among them. */
export type Counted = { readonly memory: PlacesMemory; readonly thread: number }

/** A place among those that are worked on. */
export type Place = {
  /** Gives the place to the next; what goes on without it must be bounded elsewhere. */
  leave(): void
}

/** Refused before anything was done. */
export class Busy extends PublicFailure {}

export type FairQueue = {
  /** Throws 'unavailable' when `take` would, but at once, before any work has begun. */
  check(key: string): void
  /** Whether so many wait that some key may have no room; as cheap as can be, for who asks before the key is known. */
  isCrowded(): boolean
  /**
   * Waits for a place, which is the caller's to give back. Throws 'unavailable' when too many wait or the wait was too long,
   * and what `signal` aborts with while it waits.
   */
  take(key: string, signal: AbortSignal): Promise<Place>
}

/** Time for which work goes on before new requests are accepted; longer if accepting them took longer. */
const SLICE_MS = 10

/**
 * Lets keys take turns, however many requests each of them has. No request starts in the turn of the event loop in
 * which it came: a store that answers at once would otherwise keep the loop busy until all are served, and none would
 * be refused. Limits are those of all threads together; the turns of keys are kept in each thread, and threads take turns
 * where all places are taken.
 */
export const fairQueue = (
  limits: Limits,
  clock: Clock,
  { memory, thread }: Counted = { memory: placesMemory(limits, 1), thread: 0 },
): FairQueue => {
  const places = openPlaces(memory, thread)
  const line = waitingLine(places, limits.waitingOfKey)
  const refuseOld = (): void => {
    for (const waiter of line.takeOld(clock.elapsed() - limits.ageMs)) waiter.refuse(tooLong(limits.ageMs))
  }
  const onLeft = (): void => {
    if (line.count > 0) startSoon()
  }
  const start = (waiter: Waiter): boolean => {
    if (!places.take(waiter.key)) return false
    line.remove(waiter)
    waiter.start()
    return true
  }
  const startSoon = starter({ line, places, refuseOld, start }, clock)
  let watch: (() => void) | undefined
  const keepWatch = (): void => {
    if (watch !== undefined || line.count === 0) return
    watch = clock.after(limits.ageMs / 4, () => {
      watch = undefined
      refuseOld()
      onLeft()
      keepWatch()
    })
  }
  const wait = async (key: string, signal: AbortSignal): Promise<Place> => {
    const turn = Promise.withResolvers<Place>()
    const start = (): void => turn.resolve(placeOf(() => places.leave(key), onLeft))
    const waiter: Waiter = { key, since: clock.elapsed(), start, refuse: turn.reject }
    if (!line.add(waiter, TOO_MANY)) throw TOO_MANY
    const abort = (): void => {
      if (line.remove(waiter)) turn.reject(signal.reason)
      onLeft()
    }
    signal.addEventListener('abort', abort, { once: true })
    keepWatch()
    startSoon()
    return turn.promise.finally(() => signal.removeEventListener('abort', abort))
  }

  return {
    check: key => {
      if (!line.hasRoomFor(key)) throw TOO_MANY
    },
    isCrowded: () => places.waiting() >= Math.min(limits.waiting, limits.waitingOfKey),
    take: async (key, signal) => {
      signal.throwIfAborted()
      return wait(key, signal)
    },
  }
}

/** Starts what waits, as far as there are places, in turns of the event loop that come after the current one. */
const starter = (
  {
    line,
    places,
    refuseOld,
    start,
  }: {
    readonly line: WaitingLine
    readonly places: Places
    readonly refuseOld: () => void
    /** False: another thread has taken the place. */
    readonly start: (waiter: Waiter) => boolean
  },
  { elapsed }: Clock,
): (() => void) => {
  let isDue = false
  /** When work was last left for new requests. */
  let paused = elapsed()
  const go = (): void => {
    isDue = false
    const look = places.look()
    refuseOld()
    const began = elapsed()
    const until = began + Math.max(SLICE_MS, began - paused)
    for (let waiter = line.next(); waiter !== undefined; waiter = line.next()) {
      if (!start(waiter)) continue
      // Answers that a store gives at once are finished now, so that their time is measured.
      drainMicrotasks()
      if (elapsed() < until) continue
      goSoon()
      break
    }
    paused = elapsed()
    if (!isDue && line.count > 0) places.sleep(look, goSoon)
  }
  const goSoon = (): void => {
    if (isDue) return
    isDue = true
    if (line.count <= 1) paused = elapsed()
    setImmediate(go)
  }
  return goSoon
}

/** A place that is given back once. */
export const placeOf = (leave: () => void, onLeft: () => void = () => undefined): Place => {
  let isHeld = true
  return {
    leave: () => {
      if (!isHeld) return
      isHeld = false
      leave()
      onLeft()
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
