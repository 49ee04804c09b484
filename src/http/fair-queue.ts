import { drainMicrotasks } from 'bun:jsc'
import type { Clock } from '#time/clock.ts'
import { Told } from './told.ts'
import { type Waiter, type WaitingBounds, type WaitingLine, waitingLine } from './waiting-line.ts'

/**
 * How many requests run at the same time and how many may wait, in total and per key; the longest wait in milliseconds.
 */
export type Limits = WaitingBounds & {
  readonly running: number
  readonly runningOfKey: number
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
  /** Throws 'unavailable' when `run` would, but at once, before any work has begun. */
  check(key: string): void
  /** Whether so many wait that some key may have no room; as cheap as can be, for who asks before the key is known. */
  isCrowded(): boolean
  /**
   * Runs `work` when it is its turn; its place is held until the work itself has ended. Throws 'unavailable' when too
   * many wait or the wait was too long, and what `signal` aborts with while it waits.
   */
  run<T>(key: string, work: (place: Place) => Promise<T>, signal: AbortSignal): Promise<T>
}

/** Time for which work goes on before new requests are accepted; longer if accepting them took longer. */
const SLICE_MS = 10

/**
 * Lets keys take turns, however many requests each of them has. No request starts in the turn of the event loop in
 * which it came: a store that answers at once would otherwise keep the loop busy until all are served, and none would
 * be refused.
 */
export const fairQueue = (limits: Limits, clock: Clock): FairQueue => {
  const places = placesIn(limits)
  const line = waitingLine(limits, places.free)
  const refuseOld = (): void => {
    for (const waiter of line.takeOld(clock.elapsed() - limits.ageMs)) waiter.refuse(tooLong(limits.ageMs))
  }
  const startSoon = starter(line, refuseOld, clock)
  let watch: (() => void) | undefined
  const keepWatch = (): void => {
    if (watch !== undefined || line.count === 0) return
    watch = clock.after(limits.ageMs / 4, () => {
      watch = undefined
      refuseOld()
      keepWatch()
    })
  }
  const onLeft = (): void => {
    if (line.count > 0) startSoon()
  }
  const wait = async (key: string, signal: AbortSignal): Promise<Place> => {
    const room = line.roomFor(key)
    if (room === false) throw TOO_MANY
    if (room !== true && line.remove(room)) room.refuse(TOO_MANY)
    const turn = Promise.withResolvers<Place>()
    const start = (): void => turn.resolve(places.take(key, onLeft))
    const waiter: Waiter = { key, since: clock.elapsed(), start, refuse: turn.reject }
    line.add(waiter)
    const abort = (): void => {
      if (line.remove(waiter)) turn.reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    keepWatch()
    startSoon()
    return turn.promise.finally(() => signal.removeEventListener('abort', abort))
  }

  return {
    check: key => {
      if (line.roomFor(key) === false) throw TOO_MANY
    },
    isCrowded: () => line.count >= Math.min(limits.waiting, limits.waitingOfKey),
    run: async (key, work, signal) => {
      signal.throwIfAborted()
      const place = await wait(key, signal)
      try {
        return await work(place)
      } finally {
        place.leave()
      }
    },
  }
}

/** Starts what waits, as far as there are places, in turns of the event loop that come after the current one. */
const starter = (line: WaitingLine, refuseOld: () => void, { elapsed }: Clock): (() => void) => {
  let isDue = false
  /** When work was last left for new requests. */
  let paused = elapsed()
  const go = (): void => {
    isDue = false
    refuseOld()
    const began = elapsed()
    const until = began + Math.max(SLICE_MS, began - paused)
    for (let waiter = line.next(); waiter !== undefined; waiter = line.next()) {
      line.remove(waiter)
      waiter.start()
      // Answers that a store gives at once are finished now, so that their time is measured.
      drainMicrotasks()
      if (elapsed() < until) continue
      goSoon()
      break
    }
    paused = elapsed()
  }
  const goSoon = (): void => {
    if (isDue) return
    isDue = true
    if (line.count <= 1) paused = elapsed()
    setImmediate(go)
  }
  return goSoon
}

/** The places that work takes, in all and of each key. */
const placesIn = (limits: Pick<Limits, 'running' | 'runningOfKey'>) => {
  const running = new Map<string, number>()
  let runs = 0
  return {
    /** How many of a key may start now. */
    free: (key: string): number =>
      Math.max(0, Math.min(limits.running - runs, limits.runningOfKey - (running.get(key) ?? 0))),
    take: (key: string, onLeft: () => void): Place => {
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
          onLeft()
        },
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
