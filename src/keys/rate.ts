import type { Caller } from './keyring.ts'

const DAY_MS = 86_400_000
/** Keys remembered at once, some 10 MB. Beyond that the one unused for longest is forgotten, with its day's count. */
const MAX_KEYS = 100_000

export type RateAnswer = {
  readonly allowed: boolean
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

export type Rates = { take(caller: Caller): RateAnswer }

type Use = { tokens: number; at: number; day: number; today: number }

/**
 * Counts what each key asks: a bucket of `perSecond` that refills evenly (so a second's worth may come at once), and a
 * count per UTC day. A refused call costs nothing.
 */
export const createRates = (options: { readonly now: () => number; readonly maxKeys?: number }): Rates => {
  const { now, maxKeys = MAX_KEYS } = options
  // In order of last use: a key is put back at the end each time.
  const uses = new Map<string, Use>()

  const useOf = ({ id, plan }: Caller, time: number): Use => {
    const day = Math.floor(time / DAY_MS)
    const last = uses.get(id)
    if (last === undefined) return { tokens: plan.perSecond, at: time, day, today: 0 }
    // A clock that steps back gives nothing and takes nothing.
    const passed = Math.max(0, time - last.at)
    const tokens = Math.min(plan.perSecond, last.tokens + (passed * plan.perSecond) / 1_000)
    return { tokens, at: time, day, today: day === last.day ? last.today : 0 }
  }

  return {
    take: caller => {
      const time = now()
      const use = useOf(caller, time)
      const allowed = use.tokens >= 1 && use.today < caller.plan.perDay
      if (allowed) {
        use.tokens -= 1
        use.today += 1
      }
      uses.delete(caller.id)
      uses.set(caller.id, use)
      const [oldest] = uses.keys()
      if (uses.size > maxKeys && oldest !== undefined) uses.delete(oldest)
      return answerOf(caller, use, allowed)
    },
  }
}

const answerOf = ({ plan }: Caller, use: Use, allowed: boolean): RateAnswer => {
  const leftToday = Math.max(0, plan.perDay - use.today)
  const leftNow = Math.floor(use.tokens)
  const secondsToday = Math.ceil(((use.day + 1) * DAY_MS - use.at) / 1_000)
  if (leftToday <= leftNow)
    return {
      allowed,
      limit: plan.perDay,
      scope: 'day',
      remaining: leftToday,
      resetSeconds: secondsToday,
      retryAfter: allowed ? 0 : secondsToday,
    }
  return {
    allowed,
    limit: plan.perSecond,
    scope: 'second',
    remaining: leftNow,
    resetSeconds: Math.ceil((plan.perSecond - use.tokens) / plan.perSecond),
    retryAfter: allowed ? 0 : Math.max(1, Math.ceil((1 - use.tokens) / plan.perSecond)),
  }
}
