import { Failure } from '#failure/failure.ts'
import type { Caller as KnownCaller } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import type { Usage } from '#store/port.ts'
import { type Clock, DAY_MS, SECOND_MS } from '#time/clock.ts'

/**
 * A limit by the generic cell rate algorithm: `burst` requests at once, and then one more every `stepMs` milliseconds. A
 * burst after a pause may add up to 2 · `burst` − 1 requests in the period of one burst. One number is kept for each
 * caller: the theoretical arrival time of its next request, by a clock that never goes back.
 */
export type RateLimit = { readonly burst: number; readonly stepMs: number }

/** Fractions of a millisecond by which sums of steps may be wrong. */
const ROUNDING_MS = 0.001

/** Milliseconds until one more request is within the limit; 0: it is now. */
export function computeWait({ burst, stepMs }: RateLimit, arrival: number, now: number): number {
  return Math.max(0, Math.ceil(arrival - (burst - 1) * stepMs - now - ROUNDING_MS))
}

/** The arrival time after one more request. */
export function addRequest({ stepMs }: RateLimit, arrival: number, now: number): number {
  return Math.max(arrival, now) + stepMs
}

/** Number of requests that are within the limit now. */
function countLeft({ burst, stepMs }: RateLimit, arrival: number, now: number): number {
  return Math.max(0, Math.floor(burst - Math.max(0, arrival - now - ROUNDING_MS) / stepMs))
}

/** The delay of the event loop. */
export type Lateness = {
  /** The longest delay of any callback in the event loop, in the last second or now, milliseconds. */
  ms(): number
  /** Notes a request. While requests arrive, the delay is measured 20 times a second, otherwise once. */
  noteRequest(): void
  stop(): void
}

const BUSY_MS = 50
/** A timer that fires 20 times a second costs an idle service more than all its other work. */
const IDLE_MS = 1_000
/** A service is idle after this number of measurements without a request between them. */
const QUIET_MEASUREMENTS = 40
/** How long a measurement counts. */
const KEPT_MS = 1_000

/** Sets one timer; the returned function clears it. */
type After = (ms: number, measure: () => void) => () => void

/**
 * Measures how late a timer fires, and calls `eachSecond` with `ms()` about once a second: a separate timer
 * would wake the process a second time. The timer does not keep the process running.
 */
export function watchLateness(
  eachSecond: (ms: number) => void,
  now: () => number = () => performance.now(),
  after: After = startSystemTimer,
): Lateness {
  let measured: readonly { readonly at: number; readonly late: number }[] = []
  let last = now()
  let period = IDLE_MS
  let quiet = QUIET_MEASUREMENTS
  let noted = last
  const late = (time: number): number => Math.max(0, time - last - period)
  const measure = (): void => {
    const time = now()
    measured = [...measured.filter(({ at }) => at > time - KEPT_MS), { at: time, late: late(time) }]
    last = time
    quiet += 1
    period = quiet > QUIET_MEASUREMENTS ? IDLE_MS : BUSY_MS
    clear = after(period, measure)
    if (time - noted < KEPT_MS) return
    noted = time
    eachSecond(ms())
  }
  const ms = (): number => Math.max(late(now()), ...measured.map(each => each.late))
  let clear = after(period, measure)
  return {
    ms,
    noteRequest: () => {
      quiet = 0
      if (period === BUSY_MS) return
      clear()
      measure()
    },
    stop: () => clear(),
  }
}

const startSystemTimer: After = (ms, measure) => {
  const timer = setTimeout(measure, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/**
 * A request that arrives at most this long before its time waits for it. A caller that sends requests at the
 * rate of the plan is not refused because the network delivered two of them together.
 */
const EARLY_MS = 200
/** The same limit for a request that this process was itself late to handle, together with others of its key. */
const MAX_EARLY_MS = 1_200
/** The part of a key's requests per second that long work, such as an export, may take. */
const SHARE = 0.75
/** Maximum number of remembered keys. Above it, the least recently used key is forgotten, with its count of the day. */
const MAX_KEYS = 100_000

/** A caller, by its id and its plan. */
type Caller = Pick<KnownCaller, 'id' | 'plan'>

export type RateAnswer = {
  readonly allowed: boolean
  /** Milliseconds that an allowed request must wait before it continues. */
  readonly waitMs: number
  /** The key's next arrival time (`RateLimit`), and the UTC day in which the request counts: that of its arrival. */
  readonly arrival: number
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
   * processes, also for keys unused here. Only one call may run at a time. After a failure, the next call adds the
   * same requests.
   */
  share(usage: Pick<Usage, 'add'>): Promise<void>
}

/** Numbers of whole requests that a key has left and has used. */
type Left = {
  readonly second: number
  readonly today: number
  readonly usedToday: number
  /** End of the UTC day, milliseconds since 1970. */
  readonly dayEnds: number
}

/** The requests of a key. */
type Use = {
  /** The next arrival time (`RateLimit`). */
  arrival: number
  /** Time of the last refusal. */
  refused: number
  /** Number of refusals, up to the last one, with less than a second between them. */
  refusals: number
  /** The last day of use, in days since 1970. */
  day: number
  /** Requests of that day. */
  today: number
  /** The number of them that other processes know. */
  shared: number
  /** The day of use before `day`. */
  lastDay: number
  /** The number of its requests that other processes do not know yet. */
  late: number
}

type RateOptions = {
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  /** The longest time that requests of the last second may have waited before this process handled them. */
  readonly lateness?: Pick<Lateness, 'ms' | 'noteRequest'>
  readonly maxKeys?: number
}

const NEVER_LATE = { ms: () => 0, noteRequest: () => undefined }

/** Counts the requests of each key, per second and per UTC day. A refused request does not count. */
export function createRates({ clock, lateness = NEVER_LATE, maxKeys = MAX_KEYS }: RateOptions): Rates {
  const { find, begin, entries } = createUses(clock, maxKeys)
  return {
    take: ({ id, plan }) => {
      lateness.noteRequest()
      const [use, now, limit] = [begin(id), clock.elapsed(), readLimit(plan)]
      const early = computeWait(limit, use.arrival, now)
      const mayWait =
        early === 0 || (early <= Math.min(MAX_EARLY_MS, EARLY_MS + lateness.ms()) && !isRushing(use, plan, now))
      const allowed = use.today < plan.perDay && mayWait
      if (allowed) countRequest(use, limit, now)
      else if (early > 0) noteRefusal(use, now)
      return describeRate(plan, use, { allowed, early, now, time: clock.now() })
    },
    takeMore: ({ id, plan }) => {
      const [use, now, limit] = [begin(id), clock.elapsed(), readLimit(plan)]
      requireToday(use, plan, { requests: 1, time: clock.now() })
      const burst = Math.max(1, Math.floor(plan.perSecond * SHARE))
      const wait = computeWait({ ...limit, burst }, use.arrival, now)
      if (wait === 0) countRequest(use, limit, now)
      return wait
    },
    requireToday: ({ id, plan }, requests) => requireToday(begin(id), plan, { requests, time: clock.now() }),
    giveBack: ({ id, plan }, { arrival, day }) => {
      const use = begin(id)
      if (day === use.day) use.today = Math.max(0, use.today - 1)
      else if (day === use.lastDay) use.late -= 1
      // What time has already returned is not returned again.
      use.arrival -= Math.min(readLimit(plan).stepMs, Math.max(0, arrival - clock.elapsed()))
    },
    left: ({ id, plan }) => {
      const { arrival, today, day } = begin(id)
      return {
        second: countLeft(readLimit(plan), arrival, clock.elapsed()),
        today: Math.max(0, plan.perDay - today),
        usedToday: today,
        dayEnds: (day + 1) * DAY_MS,
      }
    },
    share: async usage => {
      const at = clock.now()
      const day = Math.floor(at / DAY_MS)
      const { fresh, late } = listUnshared(entries(), day)
      for (const [lastDay, counts] of late) {
        await usage.add(lastDay, counts, (lastDay + 1) * DAY_MS - 1)
        for (const [id, count] of counts) noteLate(find(id), lastDay, count)
      }
      const counts = await usage.add(day, fresh, at)
      for (const id of new Set([...fresh.keys(), ...counts.keys()])) {
        const [use, added] = [find(id), fresh.get(id) ?? 0]
        // The next day may have begun meanwhile.
        if (use.day <= day) noteShared(use, day, { added, shared: counts.get(id) ?? 0 })
        else noteLate(use, day, added)
      }
    },
  }
}

function createUses(clock: Pick<Clock, 'now'>, maxKeys: number) {
  /** The least recently used key is the first. */
  const uses = new Map<string, Use>()
  const find = (id: string): Use => {
    const known = uses.get(id)
    if (known !== undefined) return known
    const [oldest] = uses.size < maxKeys ? [] : uses.keys()
    if (oldest !== undefined) uses.delete(oldest)
    const counts = { day: 0, today: 0, shared: 0, lastDay: 0, late: 0 }
    const use = { arrival: 0, refused: Number.NEGATIVE_INFINITY, refusals: 0, ...counts }
    uses.set(id, use)
    return use
  }
  return {
    find,
    /** Marks a key as used today. */
    begin: (id: string): Use => {
      const use = find(id)
      uses.delete(id)
      uses.set(id, use)
      const day = Math.floor(clock.now() / DAY_MS)
      if (use.day !== day) startDay(use, day)
      return use
    },
    entries: () => uses.entries(),
  }
}

function readLimit({ perSecond }: Plan): RateLimit {
  return { burst: perSecond, stepMs: SECOND_MS / perSecond }
}

function countRequest(use: Use, limit: RateLimit, now: number): void {
  use.arrival = addRequest(limit, use.arrival, now)
  use.today += 1
}

type Needed = { readonly requests: number; readonly time: number }

/** Throws 'rate_limited' when fewer requests are left today. */
function requireToday({ today, day }: Use, { perDay }: Plan, { requests, time }: Needed): void {
  if (today + requests <= perDay) return
  const left = Math.max(0, perDay - today)
  throw new Failure(
    'rate_limited',
    `This API key is limited to ${perDay} requests per day; ${left} are left today, and ${requests} more are needed.`,
    {
      zh: `此 API key 每天最多 ${perDay} 次请求；今天还剩 ${left} 次，而本次还需要 ${requests} 次。`,
      details: { retryAfter: countSecondsOfDay(day, time) },
    },
  )
}

function countSecondsOfDay(day: number, time: number): number {
  return Math.ceil(((day + 1) * DAY_MS - time) / SECOND_MS)
}

function noteRefusal(use: Use, now: number): void {
  use.refusals = now - use.refused < SECOND_MS ? use.refusals + 1 : 1
  use.refused = now
}

/**
 * Whether a key was refused within the last second, and so often before, without a second between two refusals, that its
 * early requests are refused, too, instead of delayed.
 */
function isRushing({ refused, refusals }: Use, { perSecond }: Plan, now: number): boolean {
  return now - refused < SECOND_MS && refusals > perSecond / 2
}

type Taken = Pick<RateAnswer, 'allowed'> & { readonly early: number; readonly now: number; readonly time: number }

function describeRate(plan: Plan, use: Use, { allowed, early, now, time }: Taken): RateAnswer {
  const { arrival, day } = use
  const leftToday = Math.max(0, plan.perDay - use.today)
  const leftNow = countLeft(readLimit(plan), arrival, now)
  const isOfDay = leftToday <= leftNow
  const resetSeconds = isOfDay ? countSecondsOfDay(day, time) : Math.max(0, Math.ceil((arrival - now) / SECOND_MS))
  const nextSeconds = isOfDay ? resetSeconds : Math.max(1, Math.ceil(early / SECOND_MS))
  return {
    allowed,
    waitMs: allowed ? early : 0,
    arrival,
    day,
    limit: isOfDay ? plan.perDay : plan.perSecond,
    scope: isOfDay ? 'day' : 'second',
    remaining: isOfDay ? leftToday : leftNow,
    resetSeconds,
    retryAfter: allowed ? 0 : nextSeconds,
  }
}

/** Begins a day. Requests of the previous day that were not yet shared are shared later. */
function startDay(use: Use, day: number): void {
  const { day: lastDay, today, shared } = use
  Object.assign(use, { day, today: 0, shared: 0, lastDay, late: today - shared })
}

/** Requests that were not yet shared: those of the day, and those of earlier days, by day. */
function listUnshared(uses: Iterable<readonly [id: string, use: Use]>, day: number) {
  const fresh = new Map<string, number>()
  const late = new Map<number, Map<string, number>>()
  for (const [id, use] of uses) {
    if (use.day < day) startDay(use, day)
    if (use.day === day && use.today !== use.shared) fresh.set(id, use.today - use.shared)
    if (use.late === 0) continue
    const counts = late.get(use.lastDay) ?? new Map<string, number>()
    late.set(use.lastDay, counts.set(id, use.late))
  }
  return { fresh, late }
}

function noteLate(use: Use, lastDay: number, added: number): void {
  if (use.lastDay === lastDay) use.late -= added
}

type Added = { readonly added: number; readonly shared: number }

function noteShared(use: Use, day: number, { added, shared }: Added): void {
  // Further requests were counted meanwhile.
  const since = use.day === day ? use.today - use.shared - added : 0
  Object.assign(use, { day, today: shared + since, shared })
}
