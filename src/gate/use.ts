import { SECOND_MS } from '#time/units.ts'

/** Milliseconds that a ring spans: the second before the clock, and what may wait ahead of it. */
export const SPAN_MS = 2_304
/** Most requests of one millisecond. */
const MOST_AT_ONCE = 65_535

/** Keys that are remembered at once. Beyond that the one unused for longest is forgotten, with its day's count. */
export const MAX_KEYS = 100_000
/** Keys that may ask within the same seconds. */
export const MAX_RINGS = 16_384

/** What a key asked. All times are whole milliseconds since 1970. */
export type Use = {
  /** The time now. */
  time: number
  /** The requests of each millisecond; undefined: too many keys asked within the last seconds for one more. */
  ring: Ring | undefined
  /** When the key was counted last. */
  seen: number
  /** Requests of the last second, with those that wait ahead of the clock. */
  count: number
  /** Nothing before this or at it counts any more. */
  forgotten: number
  /** When the latest one counts. */
  newest: number
  /** When one was refused last, and how many with less than a second between them. */
  refused: number
  refusals: number
  /** Days since 1970, the requests of that day, and how many of them other processes know of. */
  day: number
  today: number
  shared: number
  /** The day before that, and how many of its requests other processes do not know of yet. */
  lastDay: number
  late: number
  /** By how much the clock was set back: the place of a time in the ring is that of `time + offset`. */
  offset: number
}

/** How many requests counted in each millisecond: a circle of `SPAN_MS` numbers. */
export type Ring = Uint16Array<ArrayBufferLike>

/** What keys asked, counted over all threads, as one of them sees it. */
export type Uses = {
  /** What a key asked, for this thread alone until `end`, which must follow. The fields of an unknown key are zero. */
  begin(id: string, now: () => number): Use
  /** The same without time and ring; this is no use of the key. */
  beginNote(id: string): Use
  end(use: Use): void
  /** Ids of the keys that are remembered. */
  ids(): readonly string[]
}

/** Of a key that has asked nothing. */
export const newUse = (): Use => ({
  ...{ time: 0, ring: undefined, seen: 0, count: 0, forgotten: 0, newest: 0, refused: 0, refusals: 0 },
  ...{ day: 0, today: 0, shared: 0, lastDay: 0, late: 0, offset: 0 },
})

/** The uses of a process with one thread. */
export const localUses = (maxKeys = MAX_KEYS): Uses => {
  // Both in the order in which the keys asked last.
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
  /** The ring of a key that asked nothing for as long as a ring spans, or one more. */
  const findRing = (time: number): Ring | undefined => {
    const [[id, idle] = ['', undefined]] = withRing
    if (idle === undefined || Math.abs(time - idle.seen) <= SPAN_MS)
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

/** Gives a use its ring, in which nothing counts yet. */
export const setRing = (use: Use, ring: Ring | undefined): void => {
  use.ring = ring
  if (ring === undefined) return
  use.count = 0
  use.newest = 0
}

const placeOf = ({ offset }: Use, time: number): number => (time + offset) % SPAN_MS

/** Forgets what is older than a second. A clock that steps back gives nothing and takes nothing. */
export const follow = (use: Use, ring: Ring): void => {
  const { time } = use
  const back = use.seen - time
  if (back > 0) {
    use.offset += back
    use.forgotten -= back
    use.newest -= back
    use.refused -= back
  }
  use.seen = time
  const until = time - SECOND_MS
  let place = placeOf(use, use.forgotten)
  for (let left = Math.min(until, use.newest) - use.forgotten; left > 0 && use.count > 0; left--) {
    place = place === SPAN_MS - 1 ? 0 : place + 1
    use.count -= ring[place] ?? 0
    ring[place] = 0
  }
  use.forgotten = Math.max(use.forgotten, until)
}

/** When one more may pass: a second after the one `perSecond` places before it. */
export const nextTime = (use: Use, ring: Ring, perSecond: number): number => {
  let before = use.count - perSecond
  if (before < 0) return free(use, ring, use.seen)
  let place = placeOf(use, use.forgotten)
  const span = use.newest - use.forgotten
  for (let ms = 1; ms <= span; ms++) {
    place = place === SPAN_MS - 1 ? 0 : place + 1
    const own = ring[place] ?? 0
    if (before < own) return free(use, ring, use.forgotten + ms + SECOND_MS)
    before -= own
  }
  return use.seen
}

/** The first millisecond from here on that has room for one more. */
const free = (use: Use, ring: Ring, from: number): number => {
  let at = from
  while ((ring[placeOf(use, at)] ?? 0) >= MOST_AT_ONCE) at += 1
  return at
}

/** Notes one more at a time that `nextTime` gave. */
export const pass = (use: Use, ring: Ring, at: number): void => {
  const place = placeOf(use, at)
  ring[place] = (ring[place] ?? 0) + 1
  use.count += 1
  use.newest = Math.max(use.newest, at)
  use.today += 1
}

/** Takes one back that counted at a time. */
export const takeBack = (use: Use, ring: Ring, at: number): void => {
  if (at <= use.forgotten || at > use.newest) return
  const place = placeOf(use, at)
  if ((ring[place] ?? 0) === 0) return
  ring[place] = (ring[place] ?? 0) - 1
  use.count -= 1
}
