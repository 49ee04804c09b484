import { Failure } from '#failure/failure.ts'
import type { Caller as KnownCaller } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import type { Usage } from '#store/port.ts'
import { DAY_MS, SECOND_MS } from '#time/units.ts'
import type { Lateness } from './lateness.ts'
import { shareDay, startDay } from './share-day.ts'
import { countRequest, dropOld, localUses, nextTime, type Ring, type Use, type Uses, uncountRequest } from './use.ts'

/**
 * A request that arrives at most this long before its time waits for it. A caller that sends requests at the
 * rate of the plan is not refused because the network delivered two of them together.
 */
const EARLY_MS = 200
/** The same limit for a request that this process was itself late to handle, together with others of its key. */
const MOST_EARLY_MS = 1_200
/** The part of a key's requests per second that long work, such as an export, may take. */
const SHARE = 0.75

/** A caller, by its id and its plan. */
type Caller = Pick<KnownCaller, 'id' | 'plan'>

export type RateAnswer = {
  readonly allowed: boolean
  /** Milliseconds that an allowed request must wait before it continues. */
  readonly waitMs: number
  /**
   * The time at which the request counts, milliseconds since 1970, and the UTC day in which it counts. A
   * request that waits over midnight counts in the day in which it arrived.
   */
  readonly at: number
  readonly day: number
  /** The narrower of the two limits: requests per second, or per day when fewer are left today than in this second. */
  readonly limit: number
  readonly scope: 'second' | 'day'
  /** Whole requests left under `limit`. */
  readonly remaining: number
  /** Seconds until the limit is fully available again, rounded up. */
  readonly resetSeconds: number
  /** Seconds until one more request is allowed, rounded up, at least 1; 0 when this request was allowed. */
  readonly retryAfter: number
}

export type Rates = {
  take(caller: Caller): RateAnswer
  /**
   * Counts one more request of work in progress that may wait. Returns 0 when the request was counted, else
   * the milliseconds after which to try again. A quarter of the plan's second is left for other requests of
   * the key. Throws 'rate_limited' when none are left today.
   */
  takeMore(caller: Caller): number
  /** Throws 'rate_limited' when fewer requests are left today. */
  requireToday(caller: Caller, requests: number): void
  /** Uncounts an allowed request that was refused for another reason. */
  giveBack(caller: Caller, allowed: RateAnswer): void
  /** The requests that a key has left at the moment. The call does not count as a request. */
  left(caller: Caller): Left
  /**
   * Adds the requests counted since the last call to the shared usage, and continues from the counts of all
   * processes. Only one call may run at a time. After a failure, the next call adds the same requests.
   */
  share(usage: Pick<Usage, 'add'>): Promise<void>
}

/** Numbers of whole requests that a key has left and has used. */
export type Left = {
  readonly second: number
  readonly today: number
  readonly usedToday: number
  /** End of the UTC day, milliseconds since 1970. */
  readonly dayEnds: number
}

const NEVER_LATE = { ms: () => 0, noteRequest: () => undefined }

/**
 * Counts the requests of each key: at most `perSecond` in any second, wherever it begins, and at most
 * `perDay` in a UTC day, over all threads that share the same uses. A refused request does not count.
 */
export const createRates = (options: {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The longest time that requests of the last second may have waited before this thread handled them. */
  readonly lateness?: Pick<Lateness, 'ms' | 'noteRequest'>
  /** Absent: this thread is the only one. */
  readonly uses?: Uses
}): Rates => {
  const { lateness = NEVER_LATE, uses = localUses() } = options
  const now = (): number => Math.floor(options.now())
  const begin = (id: string): Use => beginDay(uses.begin(id, now))
  const counted = <T>(id: string, work: (use: Use) => T): T => {
    const use = begin(id)
    try {
      return work(use)
    } finally {
      uses.end(use)
    }
  }
  return {
    take: ({ id, plan }) => {
      lateness.noteRequest()
      const use = begin(id)
      try {
        return takeOne(use, plan, lateness)
      } finally {
        uses.end(use)
      }
    },
    takeMore: ({ id, plan }) =>
      counted(id, use => {
        const ring = ringOf(use)
        requireToday(use, plan, 1)
        dropOld(use, ring)
        const at = nextTime(use, ring, Math.max(1, Math.floor(plan.perSecond * SHARE)))
        if (at > use.time) return at - use.time
        countRequest(use, ring, at)
        return 0
      }),
    requireToday: ({ id, plan }, requests) => counted(id, use => requireToday(use, plan, requests)),
    giveBack: ({ id }, { at, day }) =>
      counted(id, use => {
        if (day === use.day) use.today = Math.max(0, use.today - 1)
        else if (day === use.lastDay) use.late -= 1
        if (use.ring !== undefined) uncountRequest(use, use.ring, at)
      }),
    left: ({ id, plan }) =>
      counted(id, use => {
        if (use.ring !== undefined) dropOld(use, use.ring)
        return {
          second: Math.max(0, plan.perSecond - use.count),
          today: Math.max(0, plan.perDay - use.today),
          usedToday: use.today,
          dayEnds: (use.day + 1) * DAY_MS,
        }
      }),
    share: usage => shareDay(uses, usage, now()),
  }
}

const takeOne = (use: Use, plan: Plan, lateness: Pick<Lateness, 'ms'>): RateAnswer => {
  const { perSecond, perDay } = plan
  const ring = ringOf(use)
  dropOld(use, ring)
  const at = nextTime(use, ring, perSecond)
  const early = at - use.time
  const allowed =
    use.today < perDay &&
    (early === 0 || (early <= Math.min(MOST_EARLY_MS, EARLY_MS + lateness.ms()) && !isRushing(use, perSecond)))
  if (allowed) countRequest(use, ring, at)
  else if (early > 0) refuse(use)
  return answerOf(plan, use, { allowed, early })
}

/**
 * The requests of the last second of a key. Throws 'unavailable' when the key has no ring because too many are in use.
 */
const ringOf = ({ ring }: Use): Ring => {
  if (ring !== undefined) return ring
  throw new Failure('unavailable', 'The service is busy: too many API keys are in use at once.', {
    zh: '服务繁忙：同时使用的 API key 过多。',
    details: { retryAfter: 1 },
  })
}

const beginDay = (use: Use): Use => {
  const day = Math.floor(use.time / DAY_MS)
  if (use.day !== day) startDay(use, day)
  return use
}

/** Throws 'rate_limited' when fewer requests are left today. */
const requireToday = (use: Use, { perDay }: Plan, requests: number): void => {
  if (use.today + requests <= perDay) return
  const left = Math.max(0, perDay - use.today)
  throw new Failure(
    'rate_limited',
    `This API key is limited to ${perDay} requests per day; ${left} are left today, and ${requests} more are needed.`,
    {
      zh: `此 API key 每天最多 ${perDay} 次请求；今天还剩 ${left} 次，而本次还需要 ${requests} 次。`,
      details: { retryAfter: secondsOfDay(use) },
    },
  )
}

const secondsOfDay = ({ day, time }: Use): number => Math.ceil(((day + 1) * DAY_MS - time) / SECOND_MS)

const refuse = (use: Use): void => {
  use.refusals = use.time - use.refused < SECOND_MS ? use.refusals + 1 : 1
  use.refused = use.time
}

/**
 * Whether a key was refused so often within the last second that its early requests are refused, too, instead
 * of delayed.
 */
const isRushing = ({ time, refused, refusals }: Use, perSecond: number): boolean =>
  time - refused < SECOND_MS && refusals > perSecond / 2

type Taken = Pick<RateAnswer, 'allowed'> & { readonly early: number }

const answerOf = (plan: Plan, use: Use, { allowed, early }: Taken): RateAnswer => {
  const { time, count, newest } = use
  const leftToday = Math.max(0, plan.perDay - use.today)
  const leftNow = Math.max(0, plan.perSecond - count)
  const isOfDay = leftToday <= leftNow
  const full = (count > 0 ? newest : time - SECOND_MS) + SECOND_MS
  const resetSeconds = isOfDay ? secondsOfDay(use) : Math.ceil((full - time) / SECOND_MS)
  const nextSeconds = isOfDay ? resetSeconds : Math.max(1, Math.ceil(early / SECOND_MS))
  return {
    allowed,
    waitMs: allowed ? early : 0,
    at: time + early,
    day: use.day,
    limit: isOfDay ? plan.perDay : plan.perSecond,
    scope: isOfDay ? 'day' : 'second',
    remaining: isOfDay ? leftToday : leftNow,
    resetSeconds,
    retryAfter: allowed ? 0 : nextSeconds,
  }
}
