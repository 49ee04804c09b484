import { growing, makeRoom } from '#shared/growing.ts'
import { idSlots, type SlotMemory, slotMemory } from '#shared/id-slots.ts'
import { freeLock, lockAt } from '#shared/lock.ts'
import { newUse, type Ring, SPAN_MS, type Use } from './use-ring.ts'

/**
 * What keys asked, in memory that threads may share. A key has an entry, and one that asked within the last seconds has
 * a ring, too, which counts the requests of every millisecond.
 */
export type UseTable = {
  /**
   * Runs `work` on what a key asked, at the time now, while no other thread uses the table. The fields of a key that was
   * not known are zero. No ring: so many keys asked within the last seconds that there is none for one more.
   */
  use<T>(id: string, work: (use: Use, time: number, ring: Ring | undefined) => T): T
  /** The same for what is not about single seconds; this is no use of the key. */
  note(id: string, work: (use: Use) => void): void
  /** Ids of the keys that have an entry. */
  ids(): readonly string[]
}

export type UseMemory = {
  readonly head: SharedArrayBuffer
  readonly slots: SlotMemory
  readonly entries: SharedArrayBuffer
  readonly rings: SharedArrayBuffer
}

/** The numbers of an entry. */
const FIELDS = [
  'seen',
  'count',
  'forgotten',
  'newest',
  'refused',
  'refusals',
  'day',
  'today',
  'shared',
  'offset',
] as const satisfies readonly (keyof Use)[]
const SEEN = FIELDS.indexOf('seen')
/** Behind the fields: when the entry was used last, and its ring (from 1; 0: none). */
const TURN = FIELDS.length
const RING = TURN + 1
const NUMBERS = RING + 1
const RING_BYTES = SPAN_MS * 2
/** Keys that may ask within the same seconds. */
const MAX_RINGS = 16_384
/** The lock, the number of rings, the next ring to be looked at; then who has each of them. */
const LOCK = 0
const RINGS = 1
const HAND = 2
const OWNERS = 3
/** The first number of the entries counts their uses. */
const TURNS = 0

/** Memory for so many keys or some more. */
export const useMemory = (maxKeys: number): UseMemory => {
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

/** Frees what a thread that has died may have left locked. */
export const forgetUser = ({ head }: UseMemory, thread: number): void =>
  freeLock(new Int32Array(head), LOCK, thread)

/** The table as one thread sees it. */
export const openUseTable = (memory: UseMemory, thread: number, now: () => number): UseTable => {
  const entries = entriesIn(memory)
  const rings = ringsIn(memory, entries)
  const lock = lockAt(new Int32Array(memory.head), LOCK, thread)
  return {
    use: (id, work) =>
      lock.run(() => {
        const slot = entries.slotOf(id)
        entries.touch(slot)
        const time = now()
        const use = entries.read(slot)
        const result = work(use, time, rings.of(slot, use, time))
        entries.write(slot, use)
        return result
      }),
    note: (id, work) =>
      lock.run(() => {
        const slot = entries.slotOf(id)
        const use = entries.read(slot)
        work(use)
        entries.write(slot, use)
      }),
    ids: entries.ids,
  }
}

/** The entries of keys. */
const entriesIn = (memory: UseMemory) => {
  const numbers = new Float64Array(memory.entries)
  const owners = new Int32Array(memory.head)
  const slots = idSlots(memory.slots)
  const at = (slot: number, field: number): number => 1 + slot * NUMBERS + field
  const get = (slot: number, field: number): number => numbers[at(slot, field)] ?? 0
  const set = (slot: number, field: number, value: number): void => {
    numbers[at(slot, field)] = value
  }
  const touch = (slot: number): void => {
    numbers[TURNS] = (numbers[TURNS] ?? 0) + 1
    set(slot, TURN, numbers[TURNS] ?? 0)
  }
  const current = newUse()
  return {
    get,
    set,
    ids: (): readonly string[] => Array.from({ length: slots.count() }, (_, slot) => slots.idAt(slot)),
    /** Notes that an entry is used now. */
    touch,
    /** The slot of a key; one that is not known may take the place of the one in its bucket that asked longest ago. */
    slotOf: (id: string): number => {
      const known = slots.of(id)
      if (known !== undefined) return known
      const slot = slots.take(id, slot => get(slot, TURN)) ?? 0
      makeRoom(memory.entries, at(slot + 1, 0) * 8)
      const ring = get(slot, RING)
      if (ring > 0) owners[OWNERS + ring - 1] = 0
      numbers.fill(0, at(slot, 0), at(slot, NUMBERS))
      touch(slot)
      return slot
    },
    /** Valid until the next one is read. */
    read: (slot: number): Use => {
      for (let field = 0; field < FIELDS.length; field++) current[FIELDS[field] ?? 'seen'] = get(slot, field)
      return current
    },
    write: (slot: number, use: Use): void => {
      for (let field = 0; field < FIELDS.length; field++) set(slot, field, use[FIELDS[field] ?? 'seen'])
    },
  }
}

/** The rings of those keys that asked within the last seconds. */
const ringsIn = (memory: UseMemory, { get, set }: ReturnType<typeof entriesIn>) => {
  const head = new Int32Array(memory.head)
  const most = memory.rings.maxByteLength / RING_BYTES
  const views = new Map<number, Ring>()
  const view = (number: number): Ring => {
    const known = views.get(number) ?? new Uint16Array(memory.rings, (number - 1) * RING_BYTES, SPAN_MS)
    views.set(number, known)
    return known
  }
  /** Whether nobody needs a ring any more: its key asked nothing for as long as a ring spans. */
  const isIdle = (owner: number, time: number): boolean =>
    owner === 0 || Math.abs(time - get(owner - 1, SEEN)) > SPAN_MS
  /** A ring that is idle, or one more; 0: there is none. */
  const find = (time: number): number => {
    const rings = head[RINGS] ?? 0
    for (let tries = 0; tries < rings; tries++) {
      const hand = (head[HAND] ?? 0) % rings
      head[HAND] = hand + 1
      if (isIdle(head[OWNERS + hand] ?? 0, time)) return hand + 1
    }
    if (rings === most) return 0
    makeRoom(memory.rings, (rings + 1) * RING_BYTES)
    head[RINGS] = Math.floor(memory.rings.byteLength / RING_BYTES)
    head[HAND] = rings + 1
    return rings + 1
  }
  return {
    of: (slot: number, use: Use, time: number): Ring | undefined => {
      const own = get(slot, RING)
      if (own > 0) return view(own)
      const number = find(time)
      if (number === 0) return undefined
      const owner = head[OWNERS + number - 1] ?? 0
      if (owner > 0) set(owner - 1, RING, 0)
      head[OWNERS + number - 1] = slot + 1
      set(slot, RING, number)
      use.count = 0
      use.newest = 0
      return view(number).fill(0)
    },
  }
}
