import { Failure } from '#failure/failure.ts'
import type { Usage } from '#store/port.ts'
import { DAY_MS, SECOND_MS } from '#time/units.ts'
import type { Caller } from './keyring.ts'
import { follow, nextTime, pass, takeBack, type Use } from './use-ring.ts'
import { openUseTable, type UseMemory, type UseTable, useMemory } from './use-table.ts'

/**
 * A request that comes so little before its time is let wait for it: who asks as often as the plan allows is not refused
 * because the network brought two requests together.
 */
const EARLY_MS = 200
/** The same for a request that this process itself was late to look at, together with others of its key. */
const MOST_EARLY_MS = 1_200
/** What work that goes on may take of the requests of a second. */
const SHARE = 0.75
/** Keys remembered at once. Beyond that the one unused for longest is forgotten, with its day's count. */
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
  /**
   * Counts one more request of work that goes on and may wait: 0 when it was counted, else the milliseconds after which to
   * try again. It leaves a quarter of the plan's second to the key's other requests. Throws 'rate_limited' when the day has
   * none left.
   */
  takeMore(caller: Caller): number
  /** Throws 'rate_limited' when the day has fewer than so many requests left. */
  requireToday(caller: Caller, requests: number): void
  /** Takes back what was allowed: it was refused for another reason. */
  giveBack(caller: Caller, allowed: RateAnswer): void
  /** What a key has left at the moment; this asks for nothing. */
  left(caller: Caller): Left
  /**
   * Adds what was counted since the last time, and counts on from what all processes counted. One at a time; when it
   * fails, the next one adds the same.
   */
  share(usage: Pick<Usage, 'add'>): Promise<void>
}

/** Whole requests. */
export type Left = {
  readonly second: number
  readonly today: number
  readonly usedToday: number
  /** When the UTC day ends, milliseconds since 1970. */
  readonly dayEnds: number
}

/** Memory in which threads count together. */
export const rateMemory = (maxKeys = MAX_KEYS): UseMemory => useMemory(maxKeys)

/**
 * Counts what each key asks: never more than `perSecond` in any second, wherever it begins, and never more than `perDay`
 * in a UTC day, over all threads that have the same memory. A refused call costs nothing.
 */
export const createRates = (options: {
  readonly now: () => number
  /** Milliseconds that requests of the last second may have waited before this thread handled them. */
  readonly lateMs?: () => number
  /** Where counts are; absent: this thread is the only one. */
  readonly memory?: UseMemory
  /** The number of this thread among them, from 0. */
  readonly thread?: number
  readonly maxKeys?: number
}): Rates => {
  const { now, lateMs = () => 0, maxKeys, memory = rateMemory(maxKeys), thread = 0 } = options
  const table = openUseTable(memory, thread, () => Math.floor(now()))
  const mostEarly = () => Math.min(MOST_EARLY_MS, EARLY_MS + lateMs())

  return {
    take: caller =>
      table.use(caller.id, (use, time, ring) => {
        if (ring === undefined) throw tooManyKeys()
        const { perSecond, perDay } = caller.plan
        beginDay(use, time)
        follow(use, ring, time)
        const at = nextTime(use, ring, perSecond)
        const early = at - time
        const allowed =
          use.today < perDay && (early === 0 || (early <= mostEarly() && !isRushing(use, perSecond, time)))
        if (allowed) pass(use, ring, at)
        else if (early > 0) refuse(use, time)
        return answerOf(caller, use, { time, allowed, early })
      }),
    takeMore: ({ id, plan }) =>
      table.use(id, (use, time, ring) => {
        if (ring === undefined) throw tooManyKeys()
        beginDay(use, time)
        if (use.today >= plan.perDay) throw tooManyToday(plan.perDay, 1, use)
        follow(use, ring, time)
        const at = nextTime(use, ring, Math.max(1, Math.floor(plan.perSecond * SHARE)))
        if (at > time) return at - time
        pass(use, ring, at)
        return 0
      }),
    requireToday: ({ id, plan }, requests) =>
      table.use(id, (use, time) => {
        beginDay(use, time)
        if (use.today + requests > plan.perDay) throw tooManyToday(plan.perDay, requests, use)
      }),
    giveBack: ({ id }, { at }) =>
      table.use(id, (use, _, ring) => {
        if (Math.floor(at / DAY_MS) === use.day) use.today = Math.max(0, use.today - 1)
        if (ring !== undefined) takeBack(use, ring, at)
      }),
    left: ({ id, plan }) =>
      table.use(id, (use, time, ring) => {
        beginDay(use, time)
        if (ring !== undefined) follow(use, ring, time)
        return {
          second: Math.max(0, plan.perSecond - use.count),
          today: Math.max(0, plan.perDay - use.today),
          usedToday: use.today,
          dayEnds: (use.day + 1) * DAY_MS,
        }
      }),
    share: usage => shareDay(table, usage, Math.floor(now())),
  }
}

const beginDay = (use: Use, time: number): void => {
  const day = Math.floor(time / DAY_MS)
  if (use.day !== day) Object.assign(use, { day, today: 0, shared: 0 })
}

/** Adds what is new of a day, and notes what all processes counted, also of keys that nobody asked with here. */
const shareDay = async (table: UseTable, usage: Pick<Usage, 'add'>, at: number): Promise<void> => {
  const day = Math.floor(at / DAY_MS)
  const fresh = new Map<string, number>()
  for (const id of table.ids())
    table.note(id, use => {
      if (use.day === day && use.today !== use.shared) fresh.set(id, use.today - use.shared)
    })
  const counts = await usage.add(day, fresh, at)
  for (const id of new Set([...fresh.keys(), ...counts.keys()]))
    table.note(id, use => {
      // Another thread has begun the next day.
      if (use.day > day) return
      const known = use.day === day ? use.shared + (fresh.get(id) ?? 0) : 0
      // Other threads have counted on meanwhile.
      const since = use.day === day ? use.today - known : 0
      const shared = counts.get(id) ?? 0
      Object.assign(use, { day, today: shared + since, shared })
    })
}

const tooManyToday = (perDay: number, requests: number, use: Use): Failure => {
  const left = Math.max(0, perDay - use.today)
  return new Failure(
    'rate_limited',
    `This API key is limited to ${perDay} requests per day; ${left} are left today, and ${requests} more are needed.`,
    {
      zh: `此 API key 每天最多 ${perDay} 次请求；今天还剩 ${left} 次，而本次还需要 ${requests} 次。`,
      details: { retryAfter: secondsOfDay(use, use.seen) },
    },
  )
}

const secondsOfDay = ({ day }: Use, time: number): number =>
  Math.ceil(((day + 1) * DAY_MS - time) / SECOND_MS)

const tooManyKeys = (): Failure =>
  new Failure('unavailable', 'The service is busy: too many API keys are in use at once.', {
    zh: '服务繁忙：同时使用的 API key 过多。',
    details: { retryAfter: 1 },
  })

const refuse = (use: Use, time: number): void => {
  use.refusals = time - use.refused < SECOND_MS ? use.refusals + 1 : 1
  use.refused = time
}

/** Who asks for much more than the plan allows is let wait for nothing. */
const isRushing = ({ refused, refusals }: Use, perSecond: number, time: number): boolean =>
  time - refused < SECOND_MS && refusals > perSecond / 2

type Taken = { readonly time: number; readonly allowed: boolean; readonly early: number }

const answerOf = ({ plan }: Caller, use: Use, { time, allowed, early }: Taken): RateAnswer => {
  const leftToday = Math.max(0, plan.perDay - use.today)
  const leftNow = Math.max(0, plan.perSecond - use.count)
  const common = { allowed, waitMs: allowed ? early : 0, at: time + early }
  if (leftToday <= leftNow) {
    const secondsToday = secondsOfDay(use, time)
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
    resetSeconds: Math.ceil(((use.count > 0 ? use.newest : time - SECOND_MS) + SECOND_MS - time) / SECOND_MS),
    retryAfter: allowed ? 0 : Math.max(1, Math.ceil(early / SECOND_MS)),
  }
}
