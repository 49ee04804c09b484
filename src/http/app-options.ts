import type { PriceHistory, Prices, Profiles } from '#actions/define.ts'
import type { OptionDefaults } from '#actions/request/options.ts'
import type { Labels } from '#explorer/page.ts'
import type { Log } from '#failure/log.ts'
import type { AddressLimits } from '#gate/networks.ts'
import type { QueuePlaces } from '#gate/queues.ts'
import type { Rates } from '#gate/rate.ts'
import type { HeadSource } from '#head/showing.ts'
import type { Keyring } from '#keys/keyring.ts'
import type { Exposed } from '#metrics/expose.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { Trusted } from './client-address.ts'
import type { HttpCounts } from './counts.ts'
import type { Stopping } from './stopping.ts'

/** The parts and settings of the service. */
export type AppOptions = {
  readonly store: Store
  /** undefined: the service follows no node; `/rpc/` answers 503. */
  readonly node: Node | undefined
  /** The blocks above the published one; absent: none are followed. */
  readonly head?: HeadSource
  readonly keyring: Keyring
  readonly rates: Rates
  /** Absent: this thread is the only one. */
  readonly addresses?: AddressLimits
  /** Proxies whose word on the client's address is taken; absent: none. */
  readonly trustedProxies?: readonly Trusted[]
  readonly prices: Prices
  /** Absent: none is known. */
  readonly priceHistory?: PriceHistory
  readonly profiles: Profiles
  /** The defaults for options that a request does not give. */
  readonly defaults: OptionDefaults
  /** Path prefix of every address, such as `/iost`; `""`: none. */
  readonly basePath: string
  /** A request that takes longer is answered 504. */
  readonly deadlineMs: number
  /** Work for a page of a ranking of the past, in addition; absent: as much as it takes. */
  readonly rankingMs?: number
  /** Requests that ask the store at once; more wait for their turn, for a while. Given where no `places` are. */
  readonly maxInFlight: number
  /** Bytes of answers that are kept for equal requests, in all threads; absent or 0: none are. */
  readonly keptBytes?: number
  /** Exports that are sent at once, the same. */
  readonly maxExports: number
  /** Feeds that are open at once, in all and of a key, the same; and as many live pages, in all and of a network. */
  readonly maxFeeds: number
  readonly maxFeedsPerKey: number
  /** Absent: the service never stops. */
  readonly stopping?: Stopping
  /** Time after which an export or a feed is cut off whose client takes nothing. */
  readonly stallMs: number
  /** `/ready` is 503 while the last loaded block is older; absent: however old it is. */
  readonly maxLagMs?: number | undefined
  /** One success in this number has a line in the log; 0: none has; absent: each. */
  readonly logEach?: number
  /** How this thread counts requests; absent: nobody reads the counts. */
  readonly counts?: HttpCounts
  /** The text of `/metrics`; absent: the path does not exist here. */
  readonly metrics?: Exposed | undefined
  /** Requests that run and wait, as this thread sees them; absent: this thread is the only one. */
  readonly places?: QueuePlaces
  readonly clock: Clock
  readonly log: Log
  readonly version: string
  /** The shared test key, when there is one: the reference links calls with it. */
  readonly testKey?: string
  /** Whether there are pages for people. */
  readonly explorer?: boolean
  /** The operator's names for accounts and contracts, by account or contract; absent: there are none. */
  readonly labels?: Labels | undefined
  /** Where the service is found on the web, with a slash at its end; absent: nobody said. */
  readonly publicUrl?: string | undefined
}
