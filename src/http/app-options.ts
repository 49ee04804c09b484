import type { PriceHistory, Prices, Profiles } from '#actions/define.ts'
import type { OptionDefaults } from '#actions/request/options.ts'
import type { Labels } from '#explorer/page.ts'
import type { Log } from '#failure/failure.ts'
import type { Gate } from '#gate/gate.ts'
import type { HeadSource } from '#head/head-state.ts'
import type { Exposition } from '#metrics/counters.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import type { HttpCounts } from './counts.ts'
import type { Trusted } from './exchange.ts'
import type { Stopping } from './stopping.ts'

/** The parts and settings of the service. */
export type AppOptions = Gate & {
  readonly store: Store
  /** undefined: the service follows no node; `/rpc/` answers 503. */
  readonly node: Node | undefined
  /** The blocks above the published one; absent: they are not followed. */
  readonly head?: HeadSource
  /** Proxies whose client address headers are trusted; absent: none. */
  readonly trustedProxies?: readonly Trusted[]
  readonly prices: Prices
  /** Absent: none is known. */
  readonly priceHistory?: PriceHistory
  readonly profiles: Profiles
  /** The defaults for options that a request does not give. */
  readonly defaults: OptionDefaults
  /** Path prefix of every address, such as `/iost`; `""`: none. */
  readonly basePath: string
  /** Time limit of a request, after which it is answered 504. */
  readonly deadlineMs: number
  /** Additional milliseconds for a page of a ranking of the past; absent: no limit. */
  readonly rankingMs?: number
  /** Maximum bytes of cached answers; absent or 0: no answers are cached. */
  readonly keptBytes?: number
  /** Absent: the service never stops. */
  readonly stopping?: Stopping
  /** An export or a feed is aborted when its client reads nothing for this time. */
  readonly stallMs: number
  /** `/ready` returns 503 while the last loaded block is older; absent: regardless of its age. */
  readonly maxLagMs?: number | undefined
  /** Whether `/ready` also returns 503 for faults of the node and of loading; absent: it does not. */
  readonly readyNeedsNode?: boolean
  /** Every n-th success is logged; 0: none; absent: each. */
  readonly logEach?: number
  /** Request counts; absent: they are not read. */
  readonly counts?: HttpCounts
  /** The text of `/metrics`; absent: the path does not exist here. */
  readonly metrics?: Exposition | undefined
  readonly log: Log
  readonly version: string
  /** The shared test key, if any. Calls in the reference use it. */
  readonly testKey?: string
  /** Whether the service has pages for people. */
  readonly explorer?: boolean
  /** The operator's names of accounts and contracts, by account or contract; absent: there are none. */
  readonly labels?: Labels | undefined
  /** The public URL of the service, with a trailing slash; absent: unknown. */
  readonly publicUrl?: string | undefined
}
