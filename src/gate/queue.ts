import { drainMicrotasks } from 'bun:jsc'
import { PublicFailure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import type { Places } from './places.ts'

/** A request that was refused before any work was done. */
export class Busy extends PublicFailure {}

/** A request that waits for its turn. */
type Waiter = {
  readonly key: string
  /** Time of arrival, by the clock. */
  readonly since: number
  readonly start: () => void
  readonly refuse: (reason: Error) => void
}

/** Milliseconds of work before the event loop accepts new requests; longer if accepting them took longer. */
const SLICE_MS = 10

/**
 * Serves keys in turn, regardless of the number of requests of each. Limits hold for all threads together.
 * The order of keys is kept per thread, and threads take turns when all places are taken.
 *
 * A request begins at once while no request waits, but not for longer than a slice without a turn of the
 * event loop. Otherwise a store that answers within the call would keep the loop busy until all are served,
 * and none would be refused.
 */
export class FairQueue {
  readonly places: Places
  readonly #ageMs: number
  readonly #clock: Clock
  /** The requests that wait in this thread, by key, in the order in which keys get their turns. */
  readonly #keys = new Map<string, Set<Waiter>>()
  #count = 0
  #isInTurn = true
  /** Whether `#go` is scheduled for the next turn of the event loop, and when work last paused for new requests. */
  #isDue = false
  #paused: number
  /** The last known turn of the event loop, and the time since which the next one is awaited. */
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

  /** Whether some key may have no room. A cheap check before the key of a request is known. */
  isCrowded(): boolean {
    const { waiting, waitingOfKey } = this.places.bounds
    return this.places.waiting() >= Math.min(waiting, waitingOfKey)
  }

  /**
   * Waits for a place, which the caller releases. Throws 'unavailable' when too many requests wait or the
   * wait was too long, and the reason of `signal` when it aborts while the request waits.
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

  /** Whether the event loop had a turn within a slice. The loop is watched only when its last known turn is older. */
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

  /** Throws 'unavailable' when there is no room. */
  #add(waiter: Waiter): void {
    const { key } = waiter
    if (!this.places.enter(key)) {
      // In one step: otherwise another thread would take the freed place.
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

  /** Stops the wait of a request; false: the request no longer waits. */
  #remove(waiter: Waiter): boolean {
    const waited = this.#forget(waiter)
    if (waited) this.places.quit(waiter.key)
    return waited
  }

  /**
   * The latest waiter of the key with the most waiting requests in all threads, among the keys that wait in
   * this thread. The counts of all threads decide, since this thread has only a part of the room, and each of
   * its few waiters may belong to another key.
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

  /** Schedules the refusal of requests that wait too long, for when no other event triggers it. */
  #keepTime(): void {
    if (this.#timer !== undefined || this.#count === 0) return
    this.#timer = this.#clock.after(this.#ageMs / 4, () => {
      this.#timer = undefined
      this.#refuseOld()
      this.#startSoon()
      this.#keepTime()
    })
  }

  /**
   * Requests that may start now are kept, however late they are: a machine that was suspended for a while is
   * not overloaded.
   */
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

  /** Starts waiting requests, as far as places are free. */
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
      // Immediate answers of a store finish now, so that their time is measured.
      drainMicrotasks()
      if (this.#clock.elapsed() < until) continue
      this.#startSoon()
      break
    }
    this.#paused = this.#clock.elapsed()
    if (!this.#isDue && this.#count > 0) this.places.sleep(mark, () => this.#startSoon())
  }

  /**
   * The oldest request of the key whose turn it is. Every other time, the key with the fewest waiting
   * requests has its turn: a key that sends few requests need not wait for a whole round of the others for
   * each of them. The chosen key moves to the end of the order.
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

/** A place among the running requests. */
export type Place = {
  /** Releases the place, once. Work that continues without the place must be bounded elsewhere. */
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
