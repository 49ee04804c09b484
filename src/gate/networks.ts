import type { Plan } from '#keys/plan.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '#time/units.ts'

/** Networks that are remembered at once, some 2 MB. Beyond that those that owe least are forgotten. */
export const MAX_NETWORKS = 32_768
/** Networks of which one is forgotten. */
const CHOICE = 8
/** Wrong keys of a network in a minute: a mistyped key is tried again, a program that guesses goes on. */
const WRONG_PER_MINUTE = 100
/** A network may ask at most this share of what the test key allows to all. */
const TEST_SHARE = 0.5
/** Pages for people that a network may open in a minute: several readers behind one address, and no program that takes all. */
const VISITS_PER_MINUTE = 600
/** The same for pages that are open and ask for what is new: ten pages, once a second. */
const REFRESHES_PER_MINUTE = 600

/** `most` in `ms` milliseconds; `of`: its place among the numbers of a network. */
type Limit = { readonly of: number; readonly most: number; readonly ms: number }

const WRONG_KEYS: Limit = { of: 0, most: WRONG_PER_MINUTE, ms: MINUTE_MS }
const VISITS: Limit = { of: 1, most: VISITS_PER_MINUTE, ms: MINUTE_MS }
const REFRESHES: Limit = { of: 2, most: REFRESHES_PER_MINUTE, ms: MINUTE_MS }
const TEST_MINUTE = 3
const TEST_DAY = 4
export const LIMITS_OF_NETWORK = 5

/** What networks have used up, counted over all threads: `LIMITS_OF_NETWORK` numbers for each. */
export type NetworkTimes = {
  /**
   * The numbers of a network, for this thread alone until `end`, which must follow. An unknown network gets zeros, or where
   * it is not to be `added`, nothing.
   */
  begin(network: string, added: boolean): Float64Array | undefined
  end(): void
}

/** The times of a process with one thread. */
export const localNetworkTimes = (most = MAX_NETWORKS): NetworkTimes => {
  const known = new Map<string, Float64Array>()
  return {
    begin: (network, added) => {
      const found = known.get(network)
      if (found !== undefined || !added) return found
      if (known.size >= most) {
        // Of some, the one that owes least: a network that owes much is not forgotten for others.
        const [least] = [...known.entries().take(CHOICE)].toSorted(([, a], [, b]) => owed(a) - owed(b))
        if (least !== undefined) known.delete(least[0])
      }
      const own = new Float64Array(LIMITS_OF_NETWORK)
      known.set(network, own)
      return own
    },
    end: () => undefined,
  }
}

/** The latest of a network's times. */
export const owed = (times: Float64Array): number => Math.max(...times)

/** Limits of networks, by their names of at most 16 bytes. Milliseconds to wait; 0: it is within the limit. */
export type AddressLimits = {
  /** Whether the wrong keys of a network are above the limit, so that its next key is not looked up again in the store. */
  wrongFor(network: string): number
  /** Counts a wrong key. */
  wrong(network: string): void
  /** Counts a request with the test key; one that has to wait does not count. */
  test(network: string, plan: Plan): number
  /** Counts a page for people; one that has to wait does not count. */
  visit(network: string): number
  /** Counts a refresh of an open page; one that has to wait does not count. */
  refresh(network: string): number
}

/**
 * Each limit lets its number pass at once, and then one more each time its share of the period is over: one number for each
 * network and limit, the time at which all that passed would have come evenly (the generic cell rate algorithm).
 */
export const addressLimits = (options: {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Absent: this thread is the only one. */
  readonly times?: NetworkTimes
}): AddressLimits => {
  const { now, times = localNetworkTimes() } = options
  /** Never more than a period ahead: a clock that was set back locks nobody out. */
  const timeOf = (time: number, { ms }: Limit): number => Math.min(time, now() + ms)
  const waitFor = (time: number, limit: Limit): number =>
    Math.max(0, Math.ceil(timeOf(time, limit) + limit.ms / limit.most - limit.ms - now()))
  /** Counts one more under each limit, unless it has to wait. */
  const take = (network: string, limits: readonly Limit[]): number => {
    const own = times.begin(network, true) ?? new Float64Array(LIMITS_OF_NETWORK)
    const wait = Math.max(...limits.map(limit => waitFor(own[limit.of] ?? 0, limit)))
    if (wait === 0)
      for (const limit of limits)
        own[limit.of] = Math.max(timeOf(own[limit.of] ?? 0, limit), now()) + limit.ms / limit.most
    times.end()
    return wait
  }
  return {
    wrongFor: network => {
      const wait = waitFor(times.begin(network, false)?.[WRONG_KEYS.of] ?? 0, WRONG_KEYS)
      times.end()
      return wait
    },
    // No debt beyond the period: a network that stops is free after it.
    wrong: network => void take(network, [WRONG_KEYS]),
    test: (network, { perSecond, perDay }) =>
      take(network, [
        { of: TEST_MINUTE, most: Math.ceil((perSecond * MINUTE_MS * TEST_SHARE) / SECOND_MS), ms: MINUTE_MS },
        { of: TEST_DAY, most: Math.ceil(perDay * TEST_SHARE), ms: DAY_MS },
      ]),
    visit: network => take(network, [VISITS]),
    refresh: network => take(network, [REFRESHES]),
  }
}
