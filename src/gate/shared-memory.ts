import { Failure } from '#failure/failure.ts'

/** No thread has the lock. */
const FREE = 0
/** Tries before a thread sleeps: another thread's work is usually done within a few. */
const SPINS = 200
const SLEEP_MS = 1

/**
 * A lock between threads for work of microseconds, in one number of shared memory. The number identifies the
 * owning thread, so that `freeLock` finds the lock of a dead thread. The owner must not wait for anything.
 */
export class Lock {
  readonly #memory: Int32Array<SharedArrayBuffer>
  readonly #at: number
  readonly #owner: number

  constructor(memory: Int32Array<SharedArrayBuffer>, at: number, thread: number) {
    this.#memory = memory
    this.#at = at
    this.#owner = thread + 1
  }

  take(): void {
    for (let tries = 1; Atomics.compareExchange(this.#memory, this.#at, FREE, this.#owner) !== FREE; tries++) {
      const other = tries % SPINS === 0 ? Atomics.load(this.#memory, this.#at) : FREE
      if (other !== FREE) Atomics.wait(this.#memory, this.#at, other, SLEEP_MS)
    }
  }

  leave(): void {
    Atomics.store(this.#memory, this.#at, FREE)
    Atomics.notify(this.#memory, this.#at, 1)
  }

  /**
   * Takes the lock and runs `work`. `leave` releases the lock later; when `work` throws, the lock is already released.
   */
  begin<T>(work: () => T): T {
    this.take()
    try {
      return work()
    } catch (error) {
      this.leave()
      throw error
    }
  }

  /** Runs `work` under the lock. */
  run<T>(work: () => T): T {
    this.take()
    try {
      return work()
    } finally {
      this.leave()
    }
  }
}

/** Releases the lock of a dead thread. */
export const freeLock = (memory: Int32Array<SharedArrayBuffer>, at: number, thread: number): void => {
  Atomics.compareExchange(memory, at, thread + 1, FREE)
  Atomics.notify(memory, at)
}

/**
 * Shared memory that begins small: the garbage collector lets its own heap grow with all memory that a
 * program holds, even memory that was never written. Typed arrays made on it without a length grow with it.
 */
export const growing = (maxBytes: number, firstBytes = 4_096): SharedArrayBuffer =>
  new SharedArrayBuffer(Math.min(firstBytes, maxBytes), { maxByteLength: maxBytes })

/** Makes `memory` at least `bytes` long. At most one thread may do so at a time. */
export const makeRoom = (memory: SharedArrayBuffer, bytes: number): void => {
  if (memory.byteLength < bytes) memory.grow(Math.min(memory.maxByteLength, Math.max(bytes, 2 * memory.byteLength)))
}

/** Maximum bytes of UTF-8 of an id. The id of a stored key has ten hexadecimal digits. */
const ID_BYTES = 16
const ID_WORDS = ID_BYTES / 4
/** Slots per bucket. */
const WAYS = 8

export type SlotMemory = {
  readonly buckets: number
  readonly ways: number
  readonly places: SharedArrayBuffer
  readonly ids: SharedArrayBuffer
}

/** Memory for at least `slots` slots; up to `WAYS`, for exactly that number. */
export const slotMemory = (slots: number): SlotMemory => {
  const ways = Math.min(slots, WAYS)
  const buckets = slots <= WAYS ? 1 : 2 ** Math.ceil(Math.log2((slots * 1.5) / WAYS))
  return {
    buckets,
    ways,
    // The number of slots, then the slot of each place: from 1, and 0 for none.
    places: new SharedArrayBuffer((1 + buckets * ways) * 4),
    ids: growing(buckets * ways * ID_BYTES),
  }
}

/**
 * Numbered slots (0, 1, 2 …) for short texts (ids of keys), in memory that threads share: a set-associative
 * table. An id can be only in the places of its bucket, so that each search is short. No method locks.
 */
export class IdSlots {
  readonly #memory: SlotMemory
  readonly #places: Int32Array
  readonly #words: Uint32Array
  /** The last id that was read, and the first place of its bucket. */
  readonly #id = new Uint32Array(ID_WORDS)
  #text = ''
  #first = 0

  constructor(memory: SlotMemory) {
    this.#memory = memory
    this.#places = new Int32Array(memory.places)
    this.#words = new Uint32Array(memory.ids)
  }

  /** The slot of an id; undefined: the id has no slot. */
  of(text: string): number | undefined {
    this.#read(text)
    for (let place = this.#first; place < this.#first + this.#memory.ways; place++) {
      const slot = (this.#places[place] ?? 0) - 1
      if (slot < 0) return undefined
      const at = slot * ID_WORDS
      if (this.#id.every((word, index) => this.#words[at + index] === word)) return slot
    }
    return undefined
  }

  /**
   * Assigns a slot to an id that has none: the next one, or, when the bucket of the id is full, the slot of
   * the bucket with the lowest `rank`, which its former id loses. undefined: `rank` releases none of them.
   */
  take(text: string, rank: (slot: number) => number | undefined): number | undefined {
    this.#read(text)
    let chosen: number | undefined
    let least = Number.POSITIVE_INFINITY
    for (let place = this.#first; place < this.#first + this.#memory.ways; place++) {
      const slot = (this.#places[place] ?? 0) - 1
      if (slot < 0) {
        chosen = this.#add(place)
        break
      }
      const own = rank(slot)
      if (own === undefined || own >= least) continue
      chosen = slot
      least = own
    }
    if (chosen !== undefined) this.#words.set(this.#id, chosen * ID_WORDS)
    return chosen
  }

  idAt(slot: number): string {
    const raw = new Uint8Array(this.#words.slice(slot * ID_WORDS, (slot + 1) * ID_WORDS).buffer)
    const end = raw.indexOf(0)
    return new TextDecoder().decode(end < 0 ? raw : raw.subarray(0, end))
  }

  /** The number of slots. */
  get count(): number {
    return this.#places[0] ?? 0
  }

  #read(text: string): void {
    if (text !== '' && text === this.#text) return
    this.#id.fill(0)
    this.#text = ''
    const { read, written } = encoder.encodeInto(text, new Uint8Array(this.#id.buffer))
    if (read < text.length || written === 0)
      throw new Failure('defect', `An id has 1 to ${ID_BYTES} bytes; this one has ${text.length} characters.`)
    let hash = 0x811c9dc5
    for (const word of this.#id) {
      hash = Math.imul(hash ^ word, 0x01000193)
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    }
    const { buckets, ways } = this.#memory
    this.#first = 1 + (((hash ^ (hash >>> 13)) >>> 0) % buckets) * ways
    this.#text = text
  }

  #add(place: number): number {
    const slot = this.count
    makeRoom(this.#memory.ids, (slot + 1) * ID_BYTES)
    this.#places[0] = slot + 1
    this.#places[place] = slot + 1
    return slot
  }
}

const encoder = new TextEncoder()
