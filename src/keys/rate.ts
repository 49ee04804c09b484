import type { Usage } from '#store/port.ts'
import type { Caller } from './keyring.ts'

const SECOND_MS = 1_000
const DAY_MS = 86_400_000
/**
 * A request that comes so little before its time is let wait for it: who asks as often as the plan allows is not refused
 * because the network brought two requests together.
 */
const EARLY_MS = 200
/** The same for a request that this process itself was late to look at, together with others of its key. */
const MOST_EARLY_MS = 1_200
/** Keys remembered at once, some 10 MB. Beyond that the one unused for longest is forgotten, with its day's count. */
const MAX_KEYS = 100_000

export type RateAnswer = {
  readonly allowed: boolean
  /** Milliseconds after which an allowed request may go on; until then it is not. */
  readonly waitMs: number
  /** When it counts, milliseconds since 1970. */
  readonly at: number
  /** The narrower of the two limits: requests per second, or per day when fewer than that are left today. */
  readonly limit: number
  readonly scope: 'second' | 'day'
  /** Whole requests left under it. */
  readonly remaining: number
  /** Seconds until it is full again, rounded up. */
  readonly resetSeconds: number
  /** Seconds until one more is allowed, rounded up, at least 1; 0 when this one was. */
  readonly retryAfter: number
}

export type Rates = {
  take(caller: Caller): RateAnswer
  /** Takes back what was allowed: it was refused for another reason. */
  giveBack(caller: Caller, allowed: RateAnswer): void
  /** Adds what was counted since the last time, and counts on from what all processes counted. */
  share(usage: Pick<Usage, 'add'>): void
}

/** Requests let through in one millisecond. */
type Passed = { readonly at: number; count: number }

type Use = {
  /** Those of the last second, oldest first; those that wait are ahead of the clock. */
  passed: Passed[]
  count: number
  /** When one was refused last, and how many with less than a second between them. */
  refused: number
  refusals: number
  seen: number
  day: number
  today: number
  /** How many of today's are shared. */
  shared: number
}

/**
 * Counts what each key asks: never more than `perSecond` in any second, wherever it begins, and never more than `perDay`
 * in a UTC day. A refused call costs nothing.
 */
export const createRates = (options: {
  readonly now: () => number
  /** Milliseconds that requests of the last second may have waited before this process handled them. */
  readonly lateMs?: () => number
  readonly maxKeys?: number
}): Rates => {
  const { now, lateMs = () => 0, maxKeys = MAX_KEYS } = options
  // In order of last use: a key is put back at the end each time.
  const uses = new Map<string, Use>()
  /** The day's counts of all processes, as last shared. */
  let all: { readonly day: number; readonly counts: ReadonlyMap<string, number> } | undefined

  const sharedOf = (id: string, day: number) => (all?.day === day ? (all.counts.get(id) ?? 0) : 0)
  const mostEarly = () => Math.min(MOST_EARLY_MS, EARLY_MS + lateMs())
  const useOf = (id: string, time: number): Use => {
    const day = Math.floor(time / DAY_MS)
    const use = uses.get(id) ?? newUse(time, day, sharedOf(id, day))
    uses.delete(id)
    uses.set(id, use)
    const [oldest] = uses.keys()
    if (uses.size > maxKeys && oldest !== undefined) uses.delete(oldest)
    follow(use, time)
    if (use.day !== day) {
      const shared = sharedOf(id, day)
      Object.assign(use, { day, today: shared, shared })
    }
    return use
  }

  return {
    take: caller => {
      const time = now()
      const use = useOf(caller.id, time)
      const { perSecond, perDay } = caller.plan
      const at = nextTime(use, perSecond, time)
      const early = at - time
      const allowed =
        use.today < perDay && (early === 0 || (early <= mostEarly() && !isRushing(use, perSecond, time)))
      if (allowed) pass(use, at)
      else if (early > 0) refuse(use, time)
      return answerOf(caller, use, { time, allowed, early })
    },
    giveBack: ({ id }, { at }) => {
      const use = uses.get(id)
      if (use === undefined) return
      if (Math.floor(at / DAY_MS) === use.day) use.today = Math.max(0, use.today - 1)
      const passed = use.passed.find(each => each.at === at && each.count > 0)
      if (passed === undefined) return
      passed.count -= 1
      use.count -= 1
    },
    share: usage => {
      const day = Math.floor(now() / DAY_MS)
      const today = [...uses].filter(([, use]) => use.day === day)
      const fresh = today.filter(([, use]) => use.today !== use.shared)
      const counts = usage.add(day, new Map(fresh.map(([id, use]) => [id, use.today - use.shared])))
      all = { day, counts }
      for (const [id, use] of today) {
        use.shared = counts.get(id) ?? 0
        use.today = use.shared
      }
    },
  }
}

const newUse = (time: number, day: number, shared: number): Use => ({
  passed: [],
  count: 0,
  refused: Number.NEGATIVE_INFINITY,
  refusals: 0,
  seen: time,
  day,
  today: shared,
  shared,
})

/** Forgets what is older than a second. A clock that steps back gives nothing and takes nothing. */
const follow = (use: Use, time: number): void => {
  const back = use.seen - time
  if (back > 0) {
    use.passed = use.passed.map(({ at, count }) => ({ at: at - back, count }))
    use.refused -= back
  }
  use.seen = time
  const kept = use.passed.findIndex(({ at }) => at > time - SECOND_MS)
  const gone = use.passed.splice(0, kept === -1 ? use.passed.length : kept)
  for (const { count } of gone) use.count -= count
}

/** When one more may pass: a second after the one `perSecond` places before it. */
const nextTime = ({ passed, count }: Use, perSecond: number, time: number): number => {
  let before = count - perSecond
  if (before < 0) return time
  for (const each of passed) {
    if (before < each.count) return each.at + SECOND_MS
    before -= each.count
  }
  return time
}

const refuse = (use: Use, time: number): void => {
  use.refusals = time - use.refused < SECOND_MS ? use.refusals + 1 : 1
  use.refused = time
}

/** Who asks for much more than the plan allows is let wait for nothing. */
const isRushing = ({ refused, refusals }: Use, perSecond: number, time: number): boolean =>
  time - refused < SECOND_MS && refusals > perSecond / 2

const pass = (use: Use, at: number): void => {
  const last = use.passed.at(-1)
  if (last?.at === at) last.count += 1
  else use.passed.push({ at, count: 1 })
  use.count += 1
  use.today += 1
}

type Taken = { readonly time: number; readonly allowed: boolean; readonly early: number }

const answerOf = ({ plan }: Caller, use: Use, { time, allowed, early }: Taken): RateAnswer => {
  const leftToday = Math.max(0, plan.perDay - use.today)
  const leftNow = Math.max(0, plan.perSecond - use.count)
  const common = { allowed, waitMs: allowed ? early : 0, at: time + early }
  if (leftToday <= leftNow) {
    const secondsToday = Math.ceil(((use.day + 1) * DAY_MS - time) / SECOND_MS)
    return {
      ...common,
      limit: plan.perDay,
      scope: 'day',
      remaining: leftToday,
      resetSeconds: secondsToday,
      retryAfter: allowed ? 0 : secondsToday,
    }
  }
  return {
    ...common,
    limit: plan.perSecond,
    scope: 'second',
    remaining: leftNow,
    resetSeconds: Math.ceil(((use.passed.at(-1)?.at ?? time - SECOND_MS) + SECOND_MS - time) / SECOND_MS),
    retryAfter: allowed ? 0 : Math.max(1, Math.ceil(early / SECOND_MS)),
  }
}
