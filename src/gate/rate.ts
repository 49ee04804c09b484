import { Failure } from '#failure/failure.ts'
import type { Caller as KnownCaller } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import type { Usage } from '#store/port.ts'
import { DAY_MS, SECOND_MS } from '#time/units.ts'
import type { Lateness } from './lateness.ts'
import { shareDay, turnTo } from './share-day.ts'
import { follow, localUses, nextTime, pass, type Ring, takeBack, type Use, type Uses } from './use.ts'

/**
 * A request that comes at most this long before its time waits for it: a caller that asks as often as the plan allows is
 * not refused because the network brought two requests together.
 */
const EARLY_MS = 200
/** The same for a request that this process itself was late to handle, together with others of its key. */
const MOST_EARLY_MS = 1_200
/** The part of a key's requests per second that long work, such as an export, may take. */
const SHARE = 0.75

/** Who asks, and how much that one may ask. */
type Caller = Pick<KnownCaller, 'id' | 'plan'>

export type RateAnswer = {
  readonly allowed: boolean
  /** Milliseconds after which an allowed request may go on; until then it is not. */
  readonly waitMs: number
  /** When it counts, milliseconds since 1970, and the UTC day that it counts in: one that waits over midnight came before. */
  readonly at: number
  readonly day: number
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
  /** Throws 'rate_limited' when the day has fewer requests left. */
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

const NEVER_LATE = { ms: () => 0, noteRequest: () => undefined }

/**
 * Counts what each key asks: never more than `perSecond` in any second, wherever it begins, and never more than `perDay`
 * in a UTC day, over all threads that have the same uses. A refused call costs nothing.
 */
export const createRates = (options: {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How long requests of the last second may have waited before this thread handled them. */
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
        follow(use, ring)
        const at = nextTime(use, ring, Math.max(1, Math.floor(plan.perSecond * SHARE)))
        if (at > use.time) return at - use.time
        pass(use, ring, at)
        return 0
      }),
    requireToday: ({ id, plan }, requests) => counted(id, use => requireToday(use, plan, requests)),
    giveBack: ({ id }, { at, day }) =>
      counted(id, use => {
        if (day === use.day) use.today = Math.max(0, use.today - 1)
        else if (day === use.lastDay) use.late -= 1
        if (use.ring !== undefined) takeBack(use, use.ring, at)
      }),
    left: ({ id, plan }) =>
      counted(id, use => {
        if (use.ring !== undefined) follow(use, use.ring)
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
  follow(use, ring)
  const at = nextTime(use, ring, perSecond)
  const early = at - use.time
  const allowed =
    use.today < perDay &&
    (early === 0 ||
      (early <= Math.min(MOST_EARLY_MS, EARLY_MS + lateness.ms()) && !isRushing(use, perSecond)))
  if (allowed) pass(use, ring, at)
  else if (early > 0) refuse(use)
  return answerOf(plan, use, { allowed, early })
}

/** The requests of the last second of a key. Throws 'unavailable' when the key has no ring, since too many are in use. */
const ringOf = ({ ring }: Use): Ring => {
  if (ring !== undefined) return ring
  throw new Failure('unavailable', 'The service is busy: too many API keys are in use at once.', {
    zh: '服务繁忙：同时使用的 API key 过多。',
    details: { retryAfter: 1 },
  })
}

const beginDay = (use: Use): Use => {
  const day = Math.floor(use.time / DAY_MS)
  if (use.day !== day) turnTo(use, day)
  return use
}

/** Throws 'rate_limited' when the day has fewer requests left. */
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

/** Whether a key was refused so often within the last second that its early requests are refused, too, instead of waiting. */
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
