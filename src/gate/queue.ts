import { drainMicrotasks } from 'bun:jsc'
import { PublicFailure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import type { Places } from './places.ts'

/** Refused before anything was done. */
export class Busy extends PublicFailure {}

/** A request that waits for its turn. */
type Waiter = {
  readonly key: string
  /** When it came, by the clock. */
  readonly since: number
  readonly start: () => void
  readonly refuse: (reason: Error) => void
}

/** Milliseconds for which work goes on before the event loop accepts new requests; longer if accepting them took longer. */
const SLICE_MS = 10

/**
 * Lets keys take turns, however many requests each of them has. Limits are those of all threads together; the turns of
 * keys are kept in each thread, and threads take turns where all places are taken.
 *
 * A request begins at once while nothing waits, but not for longer than a slice without a turn of the event loop: a store
 * that answers within the call would otherwise keep the loop busy until all are served, and none would be refused.
 */
export class FairQueue {
  readonly places: Places
  readonly #ageMs: number
  readonly #clock: Clock
  /** What waits in this thread, in the order in which keys get their turns. */
  readonly #keys = new Map<string, Set<Waiter>>()
  #count = 0
  #isInTurn = true
  /** Whether `#go` comes in the next turn of the event loop, and when work was last left for new requests. */
  #isDue = false
  #paused: number
  /** The last known turn of the event loop, and since when the next one is awaited. */
  #turned = Number.NEGATIVE_INFINITY
  #watchedSince: number | undefined
  #timer: (() => void) | undefined

  /** `ageMs`: the longest wait, milliseconds. */
  constructor(places: Places, ageMs: number, clock: Clock) {
    this.places = places
    this.#ageMs = ageMs
    this.#clock = clock
    this.#paused = clock.elapsed()
  }

  /** Throws 'unavailable' when `take` would, but before any work has begun. */
  check(key: string): void {
    const { places } = this
    if (places.waitingOf(key) >= places.bounds.waitingOfKey) throw TOO_MANY
    if (!places.hasRoom() && this.#toGiveWay(key) === undefined) throw TOO_MANY
  }

  /** Whether some key may have no room: a cheap check before the key of a request is known. */
  isCrowded(): boolean {
    const { waiting, waitingOfKey } = this.places.bounds
    return this.places.waiting() >= Math.min(waiting, waitingOfKey)
  }

  /**
   * Waits for a place, which the caller gives back. Throws 'unavailable' when too many wait or the wait was too long, and
   * what `signal` aborts with while the request waits.
   */
  async take(key: string, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted()
    if (this.#count === 0 && this.#mayBegin() && this.places.take(key)) return placeIn(this, key)
    return this.#wait(key, signal)
  }

  leave(key: string): void {
    this.places.leave(key)
    this.#startSoon()
  }

  /** Whether the event loop had a turn within a slice. It is watched only when its last known turn is older. */
  #mayBegin(): boolean {
    const now = this.#clock.elapsed()
    if (now - this.#turned < SLICE_MS / 2) return true
    if (this.#watchedSince !== undefined) return now - this.#watchedSince < SLICE_MS / 2
    this.#watchedSince = now
    setImmediate(() => {
      this.#watchedSince = undefined
      this.#turned = this.#clock.elapsed()
    })
    return true
  }

  async #wait(key: string, signal: AbortSignal): Promise<Place> {
    const { promise, resolve, reject } = Promise.withResolvers<Place>()
    const start = (): void => resolve(placeIn(this, key))
    const waiter: Waiter = { key, since: this.#clock.elapsed(), start, refuse: reject }
    this.#add(waiter)
    const abort = (): void => {
      if (this.#remove(waiter)) reject(signal.reason)
      this.#startSoon()
    }
    signal.addEventListener('abort', abort, { once: true })
    this.#keepTime()
    this.#startSoon()
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Throws when there is no room. */
  #add(waiter: Waiter): void {
    const { key } = waiter
    if (!this.places.enter(key)) {
      // One step, or another thread would take the place that is made.
      const instead = this.#toGiveWay(key)
      if (instead === undefined || !this.places.enter(key, instead.key)) throw TOO_MANY
      this.#forget(instead)
      instead.refuse(TOO_MANY)
    }
    const own = this.#keys.get(key) ?? new Set()
    this.#keys.set(key, own.add(waiter))
    this.#count += 1
  }

  #forget(waiter: Waiter): boolean {
    const own = this.#keys.get(waiter.key)
    if (own?.delete(waiter) !== true) return false
    if (own.size === 0) this.#keys.delete(waiter.key)
    this.#count -= 1
    return true
  }

  /** False: it does not wait any more. */
  #remove(waiter: Waiter): boolean {
    const waited = this.#forget(waiter)
    if (waited) this.places.quit(waiter.key)
    return waited
  }

  /**
   * The latest of the key that has most waiting in all threads, of those that wait in this one: a thread has less room
   * than all, and each of its few may be of another key.
   */
  #toGiveWay(key: string): Waiter | undefined {
    let most = this.places.waitingOf(key) + 1
    let latest: Waiter | undefined
    for (const [each, own] of this.#keys) {
      const waiting = this.places.waitingOf(each)
      if (waiting <= most) continue
      most = waiting
      latest = [...own].at(-1)
    }
    return latest
  }

  /** Refuses what has waited too long while nothing else happens. */
  #keepTime(): void {
    if (this.#timer !== undefined || this.#count === 0) return
    this.#timer = this.#clock.after(this.#ageMs / 4, () => {
      this.#timer = undefined
      this.#refuseOld()
      this.#startSoon()
      this.#keepTime()
    })
  }

  /** What may start now stays, however late it is: a machine that stood still for a while is not overloaded. */
  #refuseOld(): void {
    const until = this.#clock.elapsed() - this.#ageMs
    for (const [key, own] of [...this.#keys])
      for (const waiter of [...own].slice(this.places.free(key))) {
        if (waiter.since > until) break
        if (this.#remove(waiter)) waiter.refuse(tooLong(this.#ageMs))
      }
  }

  #startSoon(): void {
    if (this.#isDue || this.#count === 0) return
    this.#isDue = true
    if (this.#count === 1) this.#paused = this.#clock.elapsed()
    setImmediate(() => this.#go())
  }

  /** Starts what waits, as far as there are places. */
  #go(): void {
    this.#isDue = false
    const mark = this.places.mark()
    this.#refuseOld()
    const began = this.#clock.elapsed()
    this.#turned = began
    const until = began + Math.max(SLICE_MS, began - this.#paused)
    for (let waiter = this.#next(); waiter !== undefined; waiter = this.#next()) {
      if (!this.places.take(waiter.key)) continue
      this.#remove(waiter)
      waiter.start()
      // Answers that a store gives at once are finished now, so that their time is measured.
      drainMicrotasks()
      if (this.#clock.elapsed() < until) continue
      this.#startSoon()
      break
    }
    this.#paused = this.#clock.elapsed()
    if (!this.#isDue && this.#count > 0) this.places.sleep(mark, () => this.#startSoon())
  }

  /**
   * The oldest of the key whose turn it is, every other time of the key that has fewest waiting: one that asks seldom, and
   * was late with all the others, need not wait for a round of theirs for each of its requests. The key goes to the end of
   * the turns.
   */
  #next(): Waiter | undefined {
    let chosen: readonly [key: string, own: Set<Waiter>] | undefined
    for (const [key, own] of this.#keys) {
      if (this.places.free(key) === 0) continue
      if (chosen === undefined || own.size < chosen[1].size) chosen = [key, own]
      if (this.#isInTurn) break
    }
    if (chosen === undefined) return undefined
    this.#isInTurn = !this.#isInTurn
    const [key, own] = chosen
    this.#keys.delete(key)
    this.#keys.set(key, own)
    const [waiter] = own
    return waiter
  }
}

/** A place among those that are worked on. */
export type Place = {
  /** Gives the place to the next, once; what goes on without it must be bounded elsewhere. */
  readonly leave: () => void
}

export const placeIn = (places: { leave(key: string): void }, key: string): Place => {
  let isLeft = false
  return {
    leave: () => {
      if (!isLeft) places.leave(key)
      isLeft = true
    },
  }
}

const TOO_MANY = new Busy('unavailable', 'The service is busy: too many requests are waiting.', {
  zh: '服务繁忙：排队等待的请求过多。',
  details: { retryAfter: 1 },
})

const tooLong = (ageMs: number): Busy =>
  new Busy('unavailable', `The service is busy: this request waited for ${ageMs} ms.`, {
    zh: `服务繁忙：此请求已排队等待 ${ageMs} 毫秒。`,
    details: { retryAfter: 1 },
  })
