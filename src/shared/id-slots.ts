import { Failure } from '#failure/failure.ts'
import { growing, makeRoom } from './growing.ts'

/**
 * Numbered slots (0, 1, 2 …) that belong to short texts (ids of keys), in memory that threads share. An id can be in few
 * places only, those of its bucket, so that each look is short. Nothing here is locked.
 */
export type IdSlots = {
  /** The slot of an id; undefined: it has none. */
  of(id: string): number | undefined
  /**
   * Gives an id that has none a slot: the next one, or, when its bucket is full, the one of the bucket that `rank` rates
   * lowest, whoever had it before. undefined: `rank` gives none of them away.
   */
  take(id: string, rank: (slot: number) => number | undefined): number | undefined
  idAt(slot: number): string
  /** How many slots there are. */
  count(): number
}

export type SlotMemory = {
  readonly buckets: number
  readonly ways: number
  readonly places: SharedArrayBuffer
  readonly ids: SharedArrayBuffer
}

/** An id has at most so many bytes of UTF-8: that of a stored key has ten hexadecimal digits. */
const ID_BYTES = 16
const ID_WORDS = ID_BYTES / 4
/** Slots that share a bucket. */
const WAYS = 8

/** Memory for at least so many slots; up to `WAYS` for exactly so many. */
export const slotMemory = (slots: number): SlotMemory => {
  const ways = Math.min(slots, WAYS)
  const buckets = slots <= WAYS ? 1 : 2 ** Math.ceil(Math.log2((slots * 1.5) / WAYS))
  return {
    buckets,
    ways,
    // The number of slots, then that of each place: from 1, and 0 for none.
    places: new SharedArrayBuffer((1 + buckets * ways) * 4),
    ids: growing(buckets * ways * ID_BYTES),
  }
}

export const idSlots = ({ buckets, ways, ...memory }: SlotMemory): IdSlots => {
  const places = new Int32Array(memory.places)
  const words = new Uint32Array(memory.ids)
  const id = new Uint32Array(ID_WORDS)
  const bytes = new Uint8Array(id.buffer)
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  /** Leaves the id in `id`; returns the first place of its bucket. */
  let last = { text: '', first: 0 }
  const read = (text: string): number => {
    if (text !== '' && text === last.text) return last.first
    bytes.fill(0)
    last = { text: '', first: 0 }
    const { read, written } = encoder.encodeInto(text, bytes)
    if (read < text.length || written === 0)
      throw new Failure('defect', `An id has 1 to ${ID_BYTES} bytes; this one has ${text.length} characters.`)
    let hash = 0x811c9dc5
    for (const word of id) {
      hash = Math.imul(hash ^ word, 0x01000193)
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    }
    last = { text, first: 1 + (((hash ^ (hash >>> 13)) >>> 0) % buckets) * ways }
    return last.first
  }
  const holds = (slot: number): boolean => {
    const at = slot * ID_WORDS
    return (
      words[at] === id[0] && words[at + 1] === id[1] && words[at + 2] === id[2] && words[at + 3] === id[3]
    )
  }
  const add = (place: number): number => {
    const slot = places[0] ?? 0
    makeRoom(memory.ids, (slot + 1) * ID_BYTES)
    places[0] = slot + 1
    places[place] = slot + 1
    return slot
  }
  return {
    of: text => {
      const first = read(text)
      for (let place = first; place < first + ways; place++) {
        const slot = (places[place] ?? 0) - 1
        if (slot < 0) return undefined
        if (holds(slot)) return slot
      }
      return undefined
    },
    take: (text, rank) => {
      const first = read(text)
      let chosen: number | undefined
      let least = Number.POSITIVE_INFINITY
      for (let place = first; place < first + ways; place++) {
        const slot = (places[place] ?? 0) - 1
        if (slot < 0) {
          chosen = add(place)
          break
        }
        const own = rank(slot)
        if (own === undefined || own >= least) continue
        chosen = slot
        least = own
      }
      if (chosen !== undefined) words.set(id, chosen * ID_WORDS)
      return chosen
    },
    idAt: slot => {
      const raw = new Uint8Array(words.slice(slot * ID_WORDS, (slot + 1) * ID_WORDS).buffer)
      const end = raw.indexOf(0)
      return decoder.decode(end < 0 ? raw : raw.subarray(0, end))
    },
    count: () => places[0] ?? 0,
  }
}
