import { idSlots, type SlotMemory, slotMemory } from '#shared/id-slots.ts'
import { freeLock, lockAt } from '#shared/lock.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '#time/units.ts'
import type { Plan } from './plan.ts'

/** Networks that are remembered at once, some 2 MB. Beyond that those that owe least are forgotten. */
const NETWORKS = 32_768
/** Wrong keys of a network in a minute: a mistyped key is tried again, a program that guesses goes on. */
const WRONG_PER_MINUTE = 100
/** A network may ask at most this share of what the test key allows to all. */
const TEST_SHARE = 0.5
/** Pages for people that a network may open in a minute: several readers behind one address, and no program that takes all. */
const VISITS_PER_MINUTE = 600
/** Looks of a network's open pages in a minute: ten pages that look once a second. */
const LOOKS_PER_MINUTE = 600

/** What each network may still do; five numbers of each. */
const WRONG = 0
const TEST_MINUTE = 1
const TEST_DAY = 2
const VISIT = 3
const LOOK = 4
const NUMBERS = 5
const LOCK = 0

/** Memory in which threads count together. */
export type AddressMemory = {
  readonly head: SharedArrayBuffer
  readonly slots: SlotMemory
  readonly times: SharedArrayBuffer
}

export const addressMemory = (networks = NETWORKS): AddressMemory => {
  const slots = slotMemory(networks)
  return {
    head: new SharedArrayBuffer(4),
    slots,
    times: new SharedArrayBuffer(slots.buckets * slots.ways * NUMBERS * 8),
  }
}

/** Frees what a thread that has died may have left locked. */
export const forgetAddressUser = ({ head }: AddressMemory, thread: number): void =>
  freeLock(new Int32Array(head), LOCK, thread)

/** Limits of networks, by their names of at most 16 bytes. Milliseconds to wait; 0: it is within the limit. */
export type AddressLimits = {
  /** Whether a network has sent so many wrong keys that the next one is not looked up with care. */
  wrongFor(network: string): number
  /** Counts a wrong key. */
  wrong(network: string): void
  /** Counts a request with the test key; one that has to wait does not count. */
  test(network: string, plan: Plan): number
  /** Counts a page for people; one that has to wait does not count. */
  visit(network: string): number
  /** Counts a look of an open page; one that has to wait does not count. */
  look(network: string): number
}

/**
 * Each limit lets so many pass at once, and then one more each time its share of the period is over: one number for each
 * network and limit, the time at which all that passed would have come evenly (the generic cell rate algorithm).
 */
export const addressLimits = (options: {
  readonly memory: AddressMemory
  readonly thread: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}): AddressLimits => {
  const { memory, thread, now } = options
  const times = new Float64Array(memory.times)
  const slots = idSlots(memory.slots)
  const lock = lockAt(new Int32Array(memory.head), LOCK, thread)
  const owed = (slot: number): number => {
    let most = 0
    for (let number = 0; number < NUMBERS; number++)
      most = Math.max(most, times[slot * NUMBERS + number] ?? 0)
    return most
  }
  const slotOf = (network: string): number => {
    const known = slots.of(network)
    if (known !== undefined) return known
    const slot = slots.take(network, owed) ?? 0
    times.fill(0, slot * NUMBERS, (slot + 1) * NUMBERS)
    return slot
  }
  /** Never more than a period ahead: a clock that was set back locks nobody out. */
  const timeAt = (at: number, { ms }: Limit): number => Math.min(times[at] ?? 0, now() + ms)
  const waitAt = (at: number, limit: Limit): number =>
    Math.max(0, Math.ceil(timeAt(at, limit) + limit.ms / limit.most - limit.ms - now()))
  const count = (at: number, limit: Limit): void => {
    times[at] = Math.max(timeAt(at, limit), now()) + limit.ms / limit.most
  }
  const wrong: Limit = { most: WRONG_PER_MINUTE, ms: MINUTE_MS }
  const visits: Limit = { most: VISITS_PER_MINUTE, ms: MINUTE_MS }
  const looks: Limit = { most: LOOKS_PER_MINUTE, ms: MINUTE_MS }
  /** Counts one more, unless it has to wait. */
  const taken = (network: string, number: number, limit: Limit): number =>
    lock.run(() => {
      const at = slotOf(network) * NUMBERS + number
      const wait = waitAt(at, limit)
      if (wait === 0) count(at, limit)
      return wait
    })
  return {
    wrongFor: network =>
      lock.run(() => {
        const slot = slots.of(network)
        return slot === undefined ? 0 : waitAt(slot * NUMBERS + WRONG, wrong)
      }),
    wrong: network =>
      lock.run(() => {
        const at = slotOf(network) * NUMBERS + WRONG
        // No debt beyond the period: who stops is free after it.
        if (waitAt(at, wrong) === 0) count(at, wrong)
      }),
    test: (network, { perSecond, perDay }) =>
      lock.run(() => {
        const at = slotOf(network) * NUMBERS
        const minute = { most: Math.ceil((perSecond * MINUTE_MS * TEST_SHARE) / SECOND_MS), ms: MINUTE_MS }
        const day = { most: Math.ceil(perDay * TEST_SHARE), ms: DAY_MS }
        const wait = Math.max(waitAt(at + TEST_MINUTE, minute), waitAt(at + TEST_DAY, day))
        if (wait > 0) return wait
        count(at + TEST_MINUTE, minute)
        count(at + TEST_DAY, day)
        return 0
      }),
    visit: network => taken(network, VISIT, visits),
    look: network => taken(network, LOOK, looks),
  }
}

type Limit = { readonly most: number; readonly ms: number }
