import type { Text } from '#actions/define.ts'
import type { Clock } from '#time/clock.ts'
import { Busy, FairQueue, Permits, type QueueBounds, type QueuePermit } from './queue.ts'

/**
 * The queues in which requests wait for their permits. Requests to nodes have queues of their own, so that a
 * node that hangs takes no permit from answers out of the store.
 */
export type Queues = {
  /** Answers out of the store, to callers with a key. */
  readonly store: FairQueue
  /**
   * The same for visitors of pages, by network: anyone can be many visitors, so they have permits of their own, a quarter
   * of those of the keys.
   */
  readonly visitors: FairQueue
  /** `/rpc/`. */
  readonly node: FairQueue
  /** Answers that need a node for data that is not stored. Each keeps a view of the store meanwhile. */
  readonly aside: FairQueue
  /** Answers that need a node and no longer the store. Many may wait, and for longer. */
  readonly lookups: FairQueue
  /** Rankings of the past: one at a time for pages, and one for exports, whose work has no limit. */
  readonly rankings: FairQueue
  readonly wholeRankings: FairQueue
  /** Lists that are sent whole, over minutes. None waits. */
  readonly exports: Permits
  /** Feeds, which are open for days. None waits. */
  readonly feeds: Permits
  /** Pages that follow the chain, by network. They have no key, and take no permit from callers with a key. */
  readonly live: Permits
  /** Files of pages, by network like `live`. */
  readonly downloads: Permits
}

/**
 * The limits of requests in progress, exports in progress, and open feeds. The limits of exports hold for files of pages
 * as well, and those of feeds for live pages; there a network counts as a key.
 */
type Capacity = {
  readonly maxInFlight: number
  readonly maxExports: number
  readonly maxFeeds: number
  readonly maxFeedsPerKey: number
}

/** The longest wait for a permit, milliseconds: no answer is worth a longer wait. */
const AGE_MS = 1_000
/** Waiting requests per running request. A longer queue is pointless: a wait above `AGE_MS` is refused anyway. */
const WAITING = 8

/** The number of requests that a node answers concurrently. One key has an eighth of them. */
const NODE = { running: 64, runningOfKey: 8, waiting: 128, waitingOfKey: 16 } as const
/** Running and waiting requests alike keep a view: with those of `RANKINGS`, fewer than the embedded store has readers. */
const ASIDE = { running: 16, runningOfKey: 4, waiting: 16, waitingOfKey: 4 } as const

/** Each of these requests keeps a view of the store as well, running or waiting (`store/sqlite/readers.ts`). */
const RANKINGS = { running: 1, runningOfKey: 1, waiting: 10, waitingOfKey: 8 } as const
const WHOLE_RANKINGS = { running: 1, runningOfKey: 1, waiting: 2, waitingOfKey: 1 } as const

/** A wallet requests each of its pending transactions separately, and all of them at once. */
const LOOKUPS = { running: 16, runningOfKey: 8, waiting: 1_024, waitingOfKey: 128 } as const

/** One key has at most half of the running requests and a quarter of the waiting ones. */
function boundQueue(running: number): QueueBounds {
  const waiting = running * WAITING
  return { running, runningOfKey: Math.ceil(running / 2), waiting, waitingOfKey: Math.ceil(waiting / 4) }
}

/** The permits of visitors, as a share of those of callers with a key. */
const VISITORS_SHARE = 0.25

/** Exports of one key. */
const EXPORTS_OF_KEY = 2

type QueueOptions = Capacity & { readonly deadlineMs: number; readonly clock: Clock }

export function createQueues(options: QueueOptions): Queues {
  const { maxInFlight, maxExports, maxFeeds, maxFeedsPerKey, deadlineMs, clock } = options
  // A request that waited for half of its deadline has too little time left.
  const ageMs = Math.min(AGE_MS, deadlineMs / 2)
  const create = (bounds: QueueBounds, age = ageMs) => new FairQueue(bounds, age, clock)
  return {
    store: create(boundQueue(maxInFlight)),
    visitors: create(boundQueue(Math.ceil(maxInFlight * VISITORS_SHARE))),
    node: create(NODE),
    aside: create(ASIDE),
    // Waiting requests hold no permit here, so the only limit is that enough time is left for the node.
    lookups: create(LOOKUPS, deadlineMs / 2),
    rankings: create(RANKINGS, deadlineMs / 2),
    wholeRankings: create(WHOLE_RANKINGS, deadlineMs / 2),
    exports: new Permits({ running: maxExports, runningOfKey: EXPORTS_OF_KEY }),
    feeds: new Permits({ running: maxFeeds, runningOfKey: maxFeedsPerKey }),
    live: new Permits({ running: maxFeeds, runningOfKey: maxFeedsPerKey }),
    downloads: new Permits({ running: maxExports, runningOfKey: EXPORTS_OF_KEY }),
  }
}

/** A permit for a stream, for a key or a network. Throws 'rate_limited' or 'unavailable' at once. */
export function takeStreamPermit(queues: Queues, stream: Stream, key: string): QueuePermit {
  const permits = queues[stream]
  const permit = permits.tryTake(key)
  if (permit !== undefined) return permit
  const own = permits.countOf(key)
  const { ofKey, inAll, retryAfter } = REFUSALS[stream]
  const isOfKey = own >= permits.bounds.runningOfKey
  const { en, zh } = isOfKey ? ofKey(own) : inAll
  throw new Busy(isOfKey ? 'rate_limited' : 'unavailable', en, { zh, details: { retryAfter } })
}

type Stream = 'exports' | 'feeds' | 'live' | 'downloads'

/**
 * The messages of a refused stream: the key or network has its maximum, or all permits are taken. `retryAfter`: seconds.
 */
type Refusal = { readonly ofKey: (own: number) => Text; readonly inAll: Text; readonly retryAfter: number }

const REFUSALS: Readonly<Record<Stream, Refusal>> = {
  exports: {
    ofKey: own => ({
      en: `This API key is limited to ${own} exports at once; wait until one has ended.`,
      zh: `此 API key 最多同时进行 ${own} 个导出；请等待其中一个结束。`,
    }),
    inAll: {
      en: 'The service is busy: too many exports are being sent.',
      zh: '服务繁忙：正在进行的导出过多。',
    },
    retryAfter: 10,
  },
  feeds: {
    ofKey: own => ({
      en: `This API key has ${own} feeds open, as many as it may; close one first.`,
      zh: `此 API key 已打开 ${own} 个事件流，已达上限；请先关闭其中一个。`,
    }),
    inAll: { en: 'The service is busy: too many feeds are open.', zh: '服务繁忙：打开的事件流过多。' },
    retryAfter: 10,
  },
  live: {
    ofKey: () => ({
      en: 'Too many live pages are open from this network address.',
      zh: '此网络地址打开的实时页面过多。',
    }),
    inAll: { en: 'The service is busy: too many live pages are open.', zh: '服务繁忙：打开的实时页面过多。' },
    retryAfter: 60,
  },
  downloads: {
    ofKey: own => ({
      en: `A network address may load ${own} files at once; wait until one has ended.`,
      zh: `同一网络地址最多同时下载 ${own} 个文件；请等待其中一个结束。`,
    }),
    inAll: {
      en: 'The service is busy: too many files are being sent.',
      zh: '服务繁忙：正在下载的文件过多。',
    },
    retryAfter: 10,
  },
}
