import { SECOND_MS } from '#time/units.ts'

/** The span of a ring, milliseconds: the second before the clock, and the requests that may wait ahead of it. */
const SPAN_MS = 2_304
/** Maximum number of requests in one millisecond: the largest 16-bit number. */
const MOST_AT_ONCE = 65_535

/** Maximum number of remembered keys. Above it, the least recently used key is forgotten, with its count of the day. */
const MAX_KEYS = 100_000
/** Maximum number of keys that may send requests within the same seconds. */
const MAX_RINGS = 16_384

/** The requests of a key. All times are whole milliseconds since 1970. */
export type Use = {
  /** The current time. */
  time: number
  /** The requests of each millisecond; undefined: too many other keys sent requests within the last seconds. */
  ring: Ring | undefined
  /** Time of the last count of the key. */
  countedAt: number
  /** Requests of the last second, including those that wait ahead of the clock. */
  count: number
  /** Requests at or before this time no longer count. */
  forgotten: number
  /** Time at which the latest request counts. */
  newest: number
  /** Time of the last refusal, and the number of refusals with less than a second between them. */
  refused: number
  refusals: number
  /** Days since 1970, the requests of that day, and the number of them that other processes know. */
  day: number
  today: number
  shared: number
  /** The day before that, and the number of its requests that other processes do not know yet. */
  lastDay: number
  late: number
  /** Total by which the clock was set back. A time is in the ring at the place of `time + offset`. */
  offset: number
}

/** The number of requests that count in each millisecond: a circular buffer of `SPAN_MS` numbers. */
export type Ring = Uint16Array<ArrayBufferLike>

/** The requests of keys, counted over all threads; the view of one thread. */
export type Uses = {
  /** The use of a key, locked by this thread until `end`, which must follow. The fields of an unknown key are zero. */
  begin(id: string, now: () => number): Use
  /** Like `begin`, without time and ring. The call does not mark the key as used. */
  beginNote(id: string): Use
  end(use: Use): void
  /** Ids of the keys that are remembered. */
  ids(): readonly string[]
}

/** The use of a key that has sent no requests. */
const newUse = (): Use => ({
  ...{ time: 0, ring: undefined, countedAt: 0, count: 0, forgotten: 0, newest: 0, refused: 0, refusals: 0 },
  ...{ day: 0, today: 0, shared: 0, lastDay: 0, late: 0, offset: 0 },
})

/** The uses of a process with one thread. */
export const localUses = (maxKeys = MAX_KEYS): Uses => {
  // Both maps have the least recently used key first.
  const uses = new Map<string, Use>()
  const withRing = new Map<string, Use>()
  let latest: string | undefined
  const of = (id: string): Use => {
    const known = uses.get(id)
    if (known !== undefined) return known
    const [oldest] = uses.size < maxKeys ? [] : uses.keys()
    if (oldest !== undefined) for (const each of [uses, withRing]) each.delete(oldest)
    const use = newUse()
    uses.set(id, use)
    return use
  }
  /** The ring of a key without requests for the span of a ring, or a new one; undefined: too many are in use. */
  const findRing = (time: number): Ring | undefined => {
    const [[id, idle] = ['', undefined]] = withRing
    if (idle === undefined || Math.abs(time - idle.countedAt) <= SPAN_MS)
      return withRing.size < MAX_RINGS ? new Uint16Array(SPAN_MS) : undefined
    const { ring } = idle
    idle.ring = undefined
    withRing.delete(id)
    return ring?.fill(0)
  }
  const putLast = (id: string, use: Use): void => {
    uses.delete(id)
    uses.set(id, use)
    if (use.ring === undefined) return
    withRing.delete(id)
    withRing.set(id, use)
  }
  return {
    begin: (id, now) => {
      const use = of(id)
      use.time = now()
      if (use.ring === undefined) setRing(use, findRing(use.time))
      else if (id === latest) return use
      putLast(id, use)
      latest = id
      return use
    },
    beginNote: of,
    end: () => undefined,
    ids: () => [...uses.keys()],
  }
}

/** Assigns an empty ring to a use. */
const setRing = (use: Use, ring: Ring | undefined): void => {
  use.ring = ring
  if (ring === undefined) return
  use.count = 0
  use.newest = 0
}

const placeOf = ({ offset }: Use, time: number): number => (time + offset) % SPAN_MS

/** Drops requests older than a second. A clock that steps back neither adds nor removes requests. */
export const dropOld = (use: Use, ring: Ring): void => {
  const { time } = use
  const back = use.countedAt - time
  if (back > 0) {
    use.offset += back
    use.forgotten -= back
    use.newest -= back
    use.refused -= back
  }
  use.countedAt = time
  const until = time - SECOND_MS
  let place = placeOf(use, use.forgotten)
  for (let left = Math.min(until, use.newest) - use.forgotten; left > 0 && use.count > 0; left--) {
    place = place === SPAN_MS - 1 ? 0 : place + 1
    use.count -= ring[place] ?? 0
    ring[place] = 0
  }
  use.forgotten = Math.max(use.forgotten, until)
}

/** The earliest time at which one more request may pass: a second after the request `perSecond` places before it. */
export const nextTime = (use: Use, ring: Ring, perSecond: number): number => {
  let before = use.count - perSecond
  if (before < 0) return free(use, ring, use.countedAt)
  let place = placeOf(use, use.forgotten)
  const span = use.newest - use.forgotten
  for (let ms = 1; ms <= span; ms++) {
    place = place === SPAN_MS - 1 ? 0 : place + 1
    const own = ring[place] ?? 0
    if (before < own) return free(use, ring, use.forgotten + ms + SECOND_MS)
    before -= own
  }
  return use.countedAt
}

/** The first millisecond at or after `from` that has room for one more request. */
const free = (use: Use, ring: Ring, from: number): number => {
  let at = from
  while ((ring[placeOf(use, at)] ?? 0) >= MOST_AT_ONCE) at += 1
  return at
}

/** Counts one more request, at a time that `nextTime` returned. */
export const countRequest = (use: Use, ring: Ring, at: number): void => {
  const place = placeOf(use, at)
  ring[place] = (ring[place] ?? 0) + 1
  use.count += 1
  use.newest = Math.max(use.newest, at)
  use.today += 1
}

/** Uncounts one request that counted at a time. */
export const uncountRequest = (use: Use, ring: Ring, at: number): void => {
  if (at <= use.forgotten || at > use.newest) return
  const place = placeOf(use, at)
  if ((ring[place] ?? 0) === 0) return
  ring[place] = (ring[place] ?? 0) - 1
  use.count -= 1
}
