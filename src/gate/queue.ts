import { drainMicrotasks } from 'bun:jsc'
import { PublicFailure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'

/** A request that was refused before any work was done. */
export class Busy extends PublicFailure {}

/** How many requests may run, in all and of each key. */
type PermitBounds = { readonly running: number; readonly runningOfKey: number }

/** How many requests may run and how many may wait. */
export type QueueBounds = PermitBounds & { readonly waiting: number; readonly waitingOfKey: number }

/** The permission of a request to run. */
export type QueuePermit = {
  /** Releases the permit, once. Work that continues without the permit must be bounded elsewhere. */
  readonly leave: () => void
}

/** The permits of running requests. Where callers have no key, the network is the key. */
export class Permits {
  readonly bounds: PermitBounds
  readonly #onLeave: () => void
  readonly #ofKeys = new Map<string, number>()
  #running = 0

  constructor(bounds: PermitBounds, onLeave: () => void = () => undefined) {
    this.bounds = bounds
    this.#onLeave = onLeave
  }

  /** The number of running requests. */
  count(): number {
    return this.#running
  }

  countOf(key: string): number {
    return this.#ofKeys.get(key) ?? 0
  }

  /** The number of further requests of a key that may run. */
  countFree(key: string): number {
    const { running, runningOfKey } = this.bounds
    return Math.max(0, Math.min(running - this.#running, runningOfKey - this.countOf(key)))
  }

  /** Takes a permit; undefined: none is free. */
  tryTake(key: string): QueuePermit | undefined {
    if (this.countFree(key) === 0) return undefined
    this.#change(key, 1)
    let isLeft = false
    const leave = (): void => {
      if (isLeft) return
      isLeft = true
      this.#change(key, -1)
      this.#onLeave()
    }
    return { leave }
  }

  #change(key: string, change: number): void {
    const own = this.countOf(key) + change
    this.#running += change
    if (own === 0) this.#ofKeys.delete(key)
    else this.#ofKeys.set(key, own)
  }
}

/** A request that waits for its permit. */
type Waiter = {
  readonly key: string
  /** Time of arrival, by the clock. */
  readonly since: number
  readonly start: (permit: QueuePermit) => void
  readonly refuse: (reason: Error) => void
}

/** Milliseconds of work before the event loop accepts new requests; longer if accepting them took longer. */
const SLICE_MS = 10

/**
 * Serves keys in turn, regardless of the number of requests of each.
 *
 * A request begins at once while no request waits, but not for longer than a slice without a turn of the
 * event loop. Otherwise a store that answers within the call would keep the loop busy until all are served,
 * and none would be refused.
 */
export class FairQueue {
  readonly permits: Permits
  readonly #bounds: QueueBounds
  readonly #ageMs: number
  readonly #clock: Clock
  /** The waiting requests by key, in the order in which keys get their turns. */
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
  constructor(bounds: QueueBounds, ageMs: number, clock: Clock) {
    this.permits = new Permits(bounds, () => {
      if (this.#count > 0) this.#startSoon()
    })
    this.#bounds = bounds
    this.#ageMs = ageMs
    this.#clock = clock
    this.#paused = clock.elapsed()
  }

  /** The number of waiting requests. */
  countWaiting(): number {
    return this.#count
  }

  /** Throws 'unavailable' when `take` would, but before any work has begun. */
  check(key: string): void {
    const { waiting, waitingOfKey } = this.#bounds
    if ((this.#keys.get(key)?.size ?? 0) >= waitingOfKey) throw TOO_MANY
    if (this.#count >= waiting && this.#findYielding(key) === undefined) throw TOO_MANY
  }

  /** Whether some key may have no room. A cheap check before the key of a request is known. */
  isCrowded(): boolean {
    const { waiting, waitingOfKey } = this.#bounds
    return this.#count >= Math.min(waiting, waitingOfKey)
  }

  /**
   * Waits for a permit, which the caller releases. Throws 'unavailable' when too many requests wait or the
   * wait was too long, and the reason of `signal` when it aborts while the request waits.
   */
  async take(key: string, signal: AbortSignal): Promise<QueuePermit> {
    signal.throwIfAborted()
    const permit = this.#count === 0 && this.#mayBegin() ? this.permits.tryTake(key) : undefined
    return permit ?? this.#wait(key, signal)
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

  async #wait(key: string, signal: AbortSignal): Promise<QueuePermit> {
    const { promise, resolve, reject } = Promise.withResolvers<QueuePermit>()
    const waiter: Waiter = { key, since: this.#clock.elapsed(), start: resolve, refuse: reject }
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
    this.check(key)
    const yielding = this.#count >= this.#bounds.waiting ? this.#findYielding(key) : undefined
    if (yielding !== undefined && this.#remove(yielding)) yielding.refuse(TOO_MANY)
    const own = this.#keys.get(key) ?? new Set()
    this.#keys.set(key, own.add(waiter))
    this.#count += 1
  }

  /** Stops the wait of a request; false: the request no longer waits. */
  #remove(waiter: Waiter): boolean {
    const own = this.#keys.get(waiter.key)
    if (own?.delete(waiter) !== true) return false
    if (own.size === 0) this.#keys.delete(waiter.key)
    this.#count -= 1
    return true
  }

  /** The latest waiter of the key with the most waiting requests, if it has at least two more than `key`. */
  #findYielding(key: string): Waiter | undefined {
    let most = (this.#keys.get(key)?.size ?? 0) + 1
    let latest: Waiter | undefined
    for (const own of this.#keys.values()) {
      if (own.size <= most) continue
      most = own.size
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
      for (const waiter of [...own].slice(this.permits.countFree(key))) {
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

  /** Starts waiting requests, as far as permits are free. */
  #go(): void {
    this.#isDue = false
    this.#refuseOld()
    const began = this.#clock.elapsed()
    this.#turned = began
    const until = began + Math.max(SLICE_MS, began - this.#paused)
    for (let waiter = this.#next(); waiter !== undefined; waiter = this.#next()) {
      const permit = this.permits.tryTake(waiter.key)
      if (permit === undefined) break
      this.#remove(waiter)
      waiter.start(permit)
      // Immediate answers of a store finish now, so that their time is measured.
      drainMicrotasks()
      if (this.#clock.elapsed() < until) continue
      this.#startSoon()
      break
    }
    this.#paused = this.#clock.elapsed()
  }

  /**
   * The oldest request of the key whose turn it is. Every other time, the key with the fewest waiting
   * requests has its turn: a key that sends few requests need not wait for a whole round of the others for
   * each of them. The chosen key moves to the end of the order.
   */
  #next(): Waiter | undefined {
    let chosen: readonly [key: string, own: Set<Waiter>] | undefined
    for (const [key, own] of this.#keys) {
      if (this.permits.countFree(key) === 0) continue
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

const TOO_MANY = new Busy('unavailable', 'The service is busy: too many requests are waiting.', {
  zh: '服务繁忙：排队等待的请求过多。',
  details: { retryAfter: 1 },
})

const tooLong = (ageMs: number): Busy =>
  new Busy('unavailable', `The service is busy: this request waited for ${ageMs} ms.`, {
    zh: `服务繁忙：此请求已排队等待 ${ageMs} 毫秒。`,
    details: { retryAfter: 1 },
  })
