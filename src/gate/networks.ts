import type { Plan } from '#keys/plan.ts'
import { type Clock, DAY_MS, MINUTE_MS, SECOND_MS } from '#time/clock.ts'
import { addRequest, computeWait, type RateLimit } from './rate.ts'

/** Networks that are remembered at once, about 2 MB. Above that number, one of the oldest is forgotten (`CHOICE`). */
const MAX_NETWORKS = 32_768
/** Oldest networks of which the one with the least debt is forgotten. */
const CHOICE = 8
/** Wrong keys of a network in a minute. A mistyped key is retried a few times; a program that guesses keys goes on. */
const WRONG_PER_MINUTE = 100
/** The largest share of the test key's plan that one network may use as a burst (`RateLimit`). */
const TEST_SHARE = 0.5
/**
 * Pages for people that a network may open in a minute: enough for several readers behind one address, too
 * few for a crawler.
 */
const VISITS_PER_MINUTE = 600
/** Refreshes of open pages by a network in a minute: ten pages, once a second. */
const REFRESHES_PER_MINUTE = 600

/**
 * `most` requests of a network in `ms` milliseconds; `slot`: the limit's index among the numbers of a network. The wider
 * networks around it have `wider` times as many for each step (`listNetworks`).
 */
type Limit = { readonly slot: number; readonly most: number; readonly ms: number; readonly wider: number }

/** The first digits of an IPv6 network that name the wider networks around it: /56 and /48. */
const WIDER_DIGITS = [14, 12] as const
const IPV6_DIGITS = 16

/**
 * A network and the wider ones around it, narrowest first. An IPv6 network is a /64; one customer has up to 65,536 of
 * them (a /48). An IPv4 address, or any other name, is alone.
 */
export function listNetworks(network: string): readonly string[] {
  return network.length === IPV6_DIGITS ? [network, ...WIDER_DIGITS.map(digits => network.slice(0, digits))] : [network]
}

const WRONG_KEYS: Limit = { slot: 0, most: WRONG_PER_MINUTE, ms: MINUTE_MS, wider: 2 }
const VISITS: Limit = { slot: 1, most: VISITS_PER_MINUTE, ms: MINUTE_MS, wider: 2 }
const REFRESHES: Limit = { slot: 2, most: REFRESHES_PER_MINUTE, ms: MINUTE_MS, wider: 2 }
const TEST_MINUTE = 3
const TEST_DAY = 4
const LIMITS_OF_NETWORK = 5

/** Limits of networks. Methods return milliseconds to wait; 0: within the limit. */
export type AddressLimits = {
  /**
   * Milliseconds for which the wrong keys of a network are above the limit, so that its next key is not
   * looked up again in the store.
   */
  wrongKeyWaitMs(network: string): number
  /** Counts a wrong key. */
  noteWrongKey(network: string): void
  /** Milliseconds until one more request with the test key is within the share of a network. */
  testWaitMs(network: string, plan: Plan): number
  /** Counts a request with the test key. A request that has to wait does not count. */
  test(network: string, plan: Plan): number
  /** Counts a page for people. A page that has to wait does not count. */
  visit(network: string): number
  /** Counts a refresh of an open page. A refresh that has to wait does not count. */
  refresh(network: string): number
}

/** The limit of a network that is `step` steps wider. */
function widenLimit({ most, ms, wider }: Limit, step: number): RateLimit {
  const burst = most * wider ** step
  return { burst, stepMs: ms / burst }
}

/** A wider network has no larger share of the key. */
const listTestLimits = ({ perSecond, perDay }: Plan): readonly Limit[] => [
  { slot: TEST_MINUTE, most: Math.ceil((perSecond * MINUTE_MS * TEST_SHARE) / SECOND_MS), ms: MINUTE_MS, wider: 1 },
  { slot: TEST_DAY, most: Math.ceil(perDay * TEST_SHARE), ms: DAY_MS, wider: 1 },
]

/** A network has one arrival time for each limit (`rate.ts`). */
export function createAddressLimits({ elapsed }: Pick<Clock, 'elapsed'>, maxNetworks = MAX_NETWORKS): AddressLimits {
  const known = new Map<string, Float64Array>()
  const find = (network: string): Float64Array => {
    const found = known.get(network)
    if (found !== undefined) return found
    if (known.size >= maxNetworks) {
      // The candidate with the least debt: a network with much debt is not forgotten in favour of others.
      const [least] = [...known.entries().take(CHOICE)].toSorted(([, a], [, b]) => Math.max(...a) - Math.max(...b))
      if (least !== undefined) known.delete(least[0])
    }
    const own = new Float64Array(LIMITS_OF_NETWORK)
    known.set(network, own)
    return own
  }
  /** The longest wait in a network and those around it. */
  const findWait = (network: string, limits: readonly Limit[]): number =>
    Math.max(
      ...listNetworks(network).flatMap((name, step) =>
        limits.map(limit => computeWait(widenLimit(limit, step), known.get(name)?.[limit.slot] ?? 0, elapsed())),
      ),
    )
  /** Counts one more request under each limit in each of the networks, unless it has to wait. */
  const take = (network: string, limits: readonly Limit[]): number => {
    const wait = findWait(network, limits)
    if (wait > 0) return wait
    for (const [step, name] of listNetworks(network).entries()) {
      const own = find(name)
      for (const limit of limits) own[limit.slot] = addRequest(widenLimit(limit, step), own[limit.slot] ?? 0, elapsed())
    }
    return 0
  }
  return {
    wrongKeyWaitMs: network => findWait(network, [WRONG_KEYS]),
    // The debt never exceeds the period: a network that stops is free after it.
    noteWrongKey: network => void take(network, [WRONG_KEYS]),
    testWaitMs: (network, plan) => findWait(network, listTestLimits(plan)),
    test: (network, plan) => take(network, listTestLimits(plan)),
    visit: network => take(network, [VISITS]),
    refresh: network => take(network, [REFRESHES]),
  }
}
