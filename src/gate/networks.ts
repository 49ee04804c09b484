import type { Plan } from '#keys/plan.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '#time/units.ts'

/** Networks that are remembered at once, about 2 MB. Above that number, networks with the least debt are forgotten. */
export const MAX_NETWORKS = 32_768
/** Candidates from which one network to forget is chosen. */
const CHOICE = 8
/** Wrong keys of a network in a minute. A mistyped key is retried a few times; a program that guesses keys goes on. */
const WRONG_PER_MINUTE = 100
/** The largest share of the test key's plan that one network may use. */
const TEST_SHARE = 0.5
/**
 * Pages for people that a network may open in a minute: enough for several readers behind one address, too
 * few for a crawler.
 */
const VISITS_PER_MINUTE = 600
/** Refreshes of open pages by a network in a minute: ten pages, once a second. */
const REFRESHES_PER_MINUTE = 600

/** `most` requests in `ms` milliseconds; `of`: the limit's index among the numbers of a network. */
type Limit = { readonly of: number; readonly most: number; readonly ms: number }

const WRONG_KEYS: Limit = { of: 0, most: WRONG_PER_MINUTE, ms: MINUTE_MS }
const VISITS: Limit = { of: 1, most: VISITS_PER_MINUTE, ms: MINUTE_MS }
const REFRESHES: Limit = { of: 2, most: REFRESHES_PER_MINUTE, ms: MINUTE_MS }
const TEST_MINUTE = 3
const TEST_DAY = 4
export const LIMITS_OF_NETWORK = 5

/** The limits that networks have used up, counted over all threads: `LIMITS_OF_NETWORK` numbers for each network. */
export type NetworkTimes = {
  /**
   * The numbers of a network, locked by this thread until `end`, which must follow. An unknown network gets
   * zeros; undefined: the network is unknown and is not to be `added`.
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
        // The candidate with the least debt: a network with much debt is not forgotten in favour of others.
        const [least] = [...known.entries().take(CHOICE)].toSorted(([, a], [, b]) => latestOf(a) - latestOf(b))
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
export const latestOf = (times: Float64Array): number => Math.max(...times)

/** Limits of networks, by their names of at most 16 bytes. Methods return milliseconds to wait; 0: within the limit. */
export type AddressLimits = {
  /**
   * Milliseconds for which the wrong keys of a network are above the limit, so that its next key is not
   * looked up again in the store.
   */
  wrongKeyWaitMs(network: string): number
  /** Counts a wrong key. */
  noteWrongKey(network: string): void
  /** Counts a request with the test key. A request that has to wait does not count. */
  test(network: string, plan: Plan): number
  /** Counts a page for people. A page that has to wait does not count. */
  visit(network: string): number
  /** Counts a refresh of an open page. A refresh that has to wait does not count. */
  refresh(network: string): number
}

/**
 * Each limit allows a burst of `most` requests, and then one more each time its share of the period is over.
 * One number per network and limit suffices: the theoretical arrival time of the generic cell rate algorithm.
 */
export const addressLimits = (options: {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Absent: this thread is the only one. */
  readonly times?: NetworkTimes
}): AddressLimits => {
  const { now, times = localNetworkTimes() } = options
  /** At most one period ahead: a clock that was set back locks nobody out. */
  const timeOf = (time: number, { ms }: Limit): number => Math.min(time, now() + ms)
  const waitFor = (time: number, limit: Limit): number =>
    Math.max(0, Math.ceil(timeOf(time, limit) + limit.ms / limit.most - limit.ms - now()))
  /** Counts one more request under each limit, unless it has to wait. */
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
    wrongKeyWaitMs: network => {
      const wait = waitFor(times.begin(network, false)?.[WRONG_KEYS.of] ?? 0, WRONG_KEYS)
      times.end()
      return wait
    },
    // The debt never exceeds the period: a network that stops is free after it.
    noteWrongKey: network => void take(network, [WRONG_KEYS]),
    test: (network, { perSecond, perDay }) =>
      take(network, [
        { of: TEST_MINUTE, most: Math.ceil((perSecond * MINUTE_MS * TEST_SHARE) / SECOND_MS), ms: MINUTE_MS },
        { of: TEST_DAY, most: Math.ceil(perDay * TEST_SHARE), ms: DAY_MS },
      ]),
    visit: network => take(network, [VISITS]),
    refresh: network => take(network, [REFRESHES]),
  }
}
