import { LIMITS_OF_NETWORK, latestOf, MAX_NETWORKS, type NetworkTimes } from './networks.ts'
import { type Capacity, type Counts, ofQueues } from './queues.ts'
import { freeLock, growing, IdSlots, Lock, makeRoom, type SlotMemory, slotMemory } from './shared-memory.ts'
import { forgetPlaces, type PlacesMemory, placesMemory, SharedPlaces } from './shared-places.ts'
import { MAX_KEYS, MAX_RINGS, newUse, type Ring, SPAN_MS, setRing, type Use, type Uses } from './use.ts'

/**
 * The memory in which the threads of one process count the activity of callers. Threads 0 … `threads` − 1
 * serve; the next number is the main thread's.
 */
export type SharedCounts = {
  readonly queues: Readonly<Record<keyof Counts['queues'], PlacesMemory>>
  readonly uses: UseMemory
  readonly networks: NetworkMemory
}

export const sharedCounts = (capacity: Capacity, threads: number): SharedCounts => ({
  queues: ofQueues(capacity, bounds => placesMemory(bounds, threads)),
  uses: useMemory(),
  networks: networkMemory(),
})

/** The counts; the view of one thread. */
export const openCounts = ({ queues, uses, networks }: SharedCounts, thread: number): Counts => {
  const open = (queue: keyof typeof queues) => new SharedPlaces(queues[queue], thread)
  return {
    queues: {
      ...{ store: open('store'), visitors: open('visitors') },
      ...{ node: open('node'), aside: open('aside'), lookups: open('lookups') },
      ...{ exports: open('exports'), feeds: open('feeds'), live: open('live'), downloads: open('downloads') },
    },
    uses: new SharedUses(uses, thread),
    networks: new SharedNetworkTimes(networks, thread),
  }
}

/** Releases everything that a dead thread had taken. `by` is the number of the current thread. */
export const forgetCounts = ({ queues, uses, networks }: SharedCounts, dead: number, by: number): void => {
  for (const { head } of [uses, networks]) freeLock(new Int32Array(head), LOCK, dead)
  for (const places of Object.values(queues)) forgetPlaces(places, dead, by)
}

export type UseMemory = {
  readonly head: SharedArrayBuffer
  readonly slots: SlotMemory
  readonly entries: SharedArrayBuffer
  readonly rings: SharedArrayBuffer
}

/**
 * Indices of the head: the lock, the number of rings, the next ring to try, then the owning slot of each ring
 * (from 1; 0: none).
 */
const LOCK = 0
const RINGS = 1
const HAND = 2
const OWNERS = 3
/** The fields of an entry, in order. */
const FIELDS = [
  ...(['countedAt', 'count', 'forgotten', 'newest', 'refused', 'refusals'] as const),
  ...(['day', 'today', 'shared', 'lastDay', 'late', 'offset'] as const),
] satisfies readonly (keyof Use)[]
const SEEN = FIELDS.indexOf('countedAt')
/** After the fields: the turn of the last use, and the ring (from 1; 0: none). */
const TURN = FIELDS.length
const RING = TURN + 1
const NUMBERS = RING + 1
/** The first number of the entries is the turn counter of all uses. */
const TURNS = 0
const RING_BYTES = SPAN_MS * 2

/** Memory for at least `maxKeys` keys. */
export const useMemory = (maxKeys = MAX_KEYS): UseMemory => {
  const slots = slotMemory(maxKeys)
  const count = slots.buckets * slots.ways
  const rings = Math.min(MAX_RINGS, count)
  return {
    head: new SharedArrayBuffer((OWNERS + rings) * 4),
    slots,
    entries: growing((1 + count * NUMBERS) * 8),
    rings: growing(rings * RING_BYTES, 16 * RING_BYTES),
  }
}

/** Uses in memory that threads share; the view of one thread. `begin` takes the shared lock, and `end` releases it. */
export class SharedUses implements Uses {
  readonly #memory: UseMemory
  readonly #head: Int32Array<SharedArrayBuffer>
  readonly #entries: Float64Array
  readonly #slots: IdSlots
  readonly #lock: Lock
  readonly #rings = new Map<number, Ring>()
  /** The last result of `begin`, and its slot. */
  readonly #use = newUse()
  #slot = 0

  constructor(memory: UseMemory, thread: number) {
    this.#memory = memory
    this.#head = new Int32Array(memory.head)
    this.#entries = new Float64Array(memory.entries)
    this.#slots = new IdSlots(memory.slots)
    this.#lock = new Lock(this.#head, LOCK, thread)
  }

  begin(id: string, now: () => number): Use {
    return this.#lock.begin(() => {
      const use = this.#read(id)
      this.#touch(this.#slot)
      // Within the lock, so that time does not run backwards from one thread to the next.
      use.time = now()
      const own = this.#get(this.#slot, RING)
      if (own > 0) use.ring = this.#ring(own)
      else setRing(use, this.#newRing(use.time))
      return use
    })
  }

  beginNote(id: string): Use {
    return this.#lock.begin(() => this.#read(id))
  }

  end(use: Use): void {
    for (const [field, name] of FIELDS.entries()) this.#set(this.#slot, field, use[name])
    this.#lock.leave()
  }

  ids(): readonly string[] {
    return Array.from({ length: this.#slots.count }, (_, slot) => this.#slots.idAt(slot))
  }

  #read(id: string): Use {
    this.#slot = this.#slotOf(id)
    this.#use.ring = undefined
    for (const [field, name] of FIELDS.entries()) this.#use[name] = this.#get(this.#slot, field)
    return this.#use
  }

  #at(slot: number, field: number): number {
    return 1 + slot * NUMBERS + field
  }

  #get(slot: number, field: number): number {
    return this.#entries[this.#at(slot, field)] ?? 0
  }

  #set(slot: number, field: number, value: number): void {
    this.#entries[this.#at(slot, field)] = value
  }

  /** Marks an entry as used now. */
  #touch(slot: number): void {
    const turns = (this.#entries[TURNS] ?? 0) + 1
    this.#entries[TURNS] = turns
    this.#set(slot, TURN, turns)
  }

  /** The slot of a key. An unknown key may replace the least recently used key of its bucket. */
  #slotOf(id: string): number {
    const known = this.#slots.of(id)
    if (known !== undefined) return known
    const slot = this.#slots.take(id, slot => this.#get(slot, TURN)) ?? 0
    makeRoom(this.#memory.entries, this.#at(slot + 1, 0) * 8)
    const ring = this.#get(slot, RING)
    if (ring > 0) this.#head[OWNERS + ring - 1] = 0
    this.#entries.fill(0, this.#at(slot, 0), this.#at(slot, NUMBERS))
    this.#touch(slot)
    return slot
  }

  #ring(number: number): Ring {
    const known = this.#rings.get(number)
    if (known !== undefined) return known
    const ring = new Uint16Array(this.#memory.rings, (number - 1) * RING_BYTES, SPAN_MS)
    this.#rings.set(number, ring)
    return ring
  }

  /** An empty ring for the current slot; undefined: no ring is free. */
  #newRing(time: number): Ring | undefined {
    const number = this.#findRing(time)
    if (number === 0) return undefined
    const owner = this.#head[OWNERS + number - 1] ?? 0
    if (owner > 0) this.#set(owner - 1, RING, 0)
    this.#head[OWNERS + number - 1] = this.#slot + 1
    this.#set(this.#slot, RING, number)
    return this.#ring(number).fill(0)
  }

  /**
   * A free ring, or that of a key without requests for the span of a ring, else a new ring; 0: there is no
   * room for more.
   */
  #findRing(time: number): number {
    const head = this.#head
    const rings = head[RINGS] ?? 0
    for (let tries = 0; tries < rings; tries++) {
      const hand = (head[HAND] ?? 0) % rings
      head[HAND] = hand + 1
      const owner = head[OWNERS + hand] ?? 0
      if (owner === 0 || Math.abs(time - this.#get(owner - 1, SEEN)) > SPAN_MS) return hand + 1
    }
    const memory = this.#memory.rings
    if (rings === memory.maxByteLength / RING_BYTES) return 0
    makeRoom(memory, (rings + 1) * RING_BYTES)
    head[RINGS] = Math.floor(memory.byteLength / RING_BYTES)
    head[HAND] = rings + 1
    return rings + 1
  }
}

export type NetworkMemory = {
  readonly head: SharedArrayBuffer
  readonly slots: SlotMemory
  readonly times: SharedArrayBuffer
}

export const networkMemory = (networks = MAX_NETWORKS): NetworkMemory => {
  const slots = slotMemory(networks)
  return {
    head: new SharedArrayBuffer(4),
    slots,
    times: new SharedArrayBuffer(slots.buckets * slots.ways * LIMITS_OF_NETWORK * 8),
  }
}

/** The times of networks in memory that threads share. `begin` takes the shared lock, and `end` releases it. */
export class SharedNetworkTimes implements NetworkTimes {
  readonly #times: Float64Array
  readonly #slots: IdSlots
  readonly #lock: Lock

  constructor(memory: NetworkMemory, thread: number) {
    this.#times = new Float64Array(memory.times)
    this.#slots = new IdSlots(memory.slots)
    this.#lock = new Lock(new Int32Array(memory.head), LOCK, thread)
  }

  begin(network: string, added: boolean): Float64Array | undefined {
    return this.#lock.begin(() => {
      const known = this.#slots.of(network)
      if (known !== undefined) return this.#of(known)
      return added ? this.#of(this.#slots.take(network, slot => latestOf(this.#of(slot))) ?? 0).fill(0) : undefined
    })
  }

  end(): void {
    this.#lock.leave()
  }

  #of(slot: number): Float64Array {
    return this.#times.subarray(slot * LIMITS_OF_NETWORK, (slot + 1) * LIMITS_OF_NETWORK)
  }
}
