import type { Turn } from '#actions/answer.ts'
import type { Apart } from '#actions/define.ts'
import type { Clock } from '#time/clock.ts'
import { Busy, type FairQueue, fairQueue, type Place, placeOf } from './fair-queue.ts'
import { openPlaces, type Places } from './places.ts'
import { type Bounds, forgetPlaces, type PlacesMemory, placesMemory } from './places-memory.ts'

/**
 * Where requests wait for their turn. What nodes are asked has turns of its own: a node that hangs takes none from
 * answers out of the store.
 */
export type Queues = {
  /** Answers out of the store. */
  readonly store: FairQueue
  /** `/rpc/`. */
  readonly node: FairQueue
  /** Answers that need a node for what is not stored; each keeps a view of the store meanwhile. */
  readonly aside: FairQueue
  /** The same where nothing of the store is needed any more: many may wait, and for longer. */
  readonly lookups: FairQueue
  /** Lists that are sent whole, over minutes: none waits. */
  readonly exports: Places
  /** Feeds, which are open for days: none waits. */
  readonly feeds: Places
  /** Pages that follow the chain, by network. They have no key, and take no place from those who have one. */
  readonly live: Places
  /** Files of pages, the same. */
  readonly downloads: Places
}

/** The turns of one caller. */
export type Turns = {
  /** For answers out of the store. */
  readonly store: Turn
  /** For what a node is asked. */
  readonly node: Turn
  /** Takes a place among the exports, which is given back once. Throws 'rate_limited' or 'unavailable' at once. */
  export(): Place
  /** The same among the feeds. */
  feed(): Place
  /** The caller's plan, for what counts as more than one request. */
  readonly plan: {
    /** Counts one more, as soon as it may. Throws 'rate_limited' when the day has none left. */
    more(signal: AbortSignal): Promise<void>
    /** Throws 'rate_limited' when the day has fewer left. */
    require(requests: number): void
  }
  /** The same caller's turns for work that ends with another signal. */
  until(signal: AbortSignal): Turns
}

/** Nobody's answer is worth more than a second of waiting for its turn. */
const AGE_MS = 1_000
/** Requests that wait for each one that is worked on: what waits longer than `AGE_MS` is refused anyway. */
const WAITING = 8

/** As many as a node answers side by side; one key has an eighth of them. */
const NODE = { running: 64, runningOfKey: 8, waiting: 128, waitingOfKey: 16 } as const
/** Together fewer than the embedded store's readers. */
const ASIDE = { running: 16, runningOfKey: 4, waiting: 16, waitingOfKey: 4 } as const

/** A wallet asks for each of its pending transactions by itself, for all of them at once. */
const LOOKUPS = { running: 16, runningOfKey: 8, waiting: 1_024, waitingOfKey: 128 } as const

/** One key has at most half of what is worked on and a quarter of what waits. */
const shared = (running: number): Bounds => ({
  running,
  runningOfKey: Math.ceil(running / 2),
  waiting: running * WAITING,
  waitingOfKey: Math.ceil((running * WAITING) / 4),
})

/** Streams never queue: one that finds no place is refused. */
const streams = (running: number, runningOfKey: number): Bounds => ({
  running,
  runningOfKey,
  waiting: 0,
  waitingOfKey: 0,
})

/** Where threads count what runs and waits, by queue. */
export type QueuesMemory = Readonly<Record<keyof Queues, PlacesMemory>>

/**
 * What threads 0 … `threads` − 1 do together: requests worked on at once, exports sent at once, and feeds open at once; so
 * many files of pages may be sent, and so many pages follow the chain, too, where a network counts as a key.
 */
export type Capacity = {
  readonly maxInFlight: number
  readonly maxExports: number
  readonly maxFeeds: number
  readonly maxFeedsPerKey: number
  readonly threads?: number
}

/** Exports of one key. */
const EXPORTS_OF_KEY = 2

export const queuesMemory = ({
  maxInFlight,
  maxExports,
  maxFeeds,
  maxFeedsPerKey,
  threads = 1,
}: Capacity): QueuesMemory => ({
  store: placesMemory(shared(maxInFlight), threads),
  node: placesMemory(NODE, threads),
  aside: placesMemory(ASIDE, threads),
  lookups: placesMemory(LOOKUPS, threads),
  exports: placesMemory(streams(maxExports, EXPORTS_OF_KEY), threads),
  feeds: placesMemory(streams(maxFeeds, maxFeedsPerKey), threads),
  live: placesMemory(streams(maxFeeds, maxFeedsPerKey), threads),
  downloads: placesMemory(streams(maxExports, EXPORTS_OF_KEY), threads),
})

/** Takes back what a thread that has died had taken; `by` is the number of the current thread. */
export const forgetTurns = (memory: QueuesMemory, dead: number, by: number): void => {
  for (const places of Object.values(memory)) forgetPlaces(places, dead, by)
}

export const queuesFor = (options: {
  readonly memory: QueuesMemory
  readonly thread: number
  readonly deadlineMs: number
  readonly clock: Clock
}): Queues => {
  const { memory, thread, deadlineMs, clock } = options
  // A request that waited for half of its time has too little left.
  const ageMs = Math.min(AGE_MS, deadlineMs / 2)
  const queue = (memory: PlacesMemory, longest = ageMs) =>
    fairQueue({ ...memory.bounds, ageMs: longest }, clock, { memory, thread })
  return {
    store: queue(memory.store),
    node: queue(memory.node),
    aside: queue(memory.aside),
    // Who waits holds nothing, so what counts is only that there is time left to ask.
    lookups: queue(memory.lookups, deadlineMs / 2),
    exports: openPlaces(memory.exports, thread),
    feeds: openPlaces(memory.feeds, thread),
    live: openPlaces(memory.live, thread),
    downloads: openPlaces(memory.downloads, thread),
  }
}

export const turnsOf = (
  queues: Queues,
  caller: { readonly key: string; readonly plan: Turns['plan'] },
  signal: AbortSignal,
): Turns => {
  const { key, plan } = caller
  const { store, node, aside, lookups, exports, feeds } = queues
  return {
    store: async () => {
      const place = await store.take(key, signal)
      const by =
        (queue: FairQueue): Apart =>
        async ask => {
          place.leave()
          const other = await queue.take(key, signal)
          try {
            return await ask()
          } finally {
            other.leave()
          }
        }
      return { apart: by(aside), lastly: by(lookups), leave: place.leave }
    },
    node: async () => {
      const { leave } = await node.take(key, signal)
      return { apart: ask => ask(), lastly: ask => ask(), leave }
    },
    export: () => exportPlace(exports, key),
    feed: () => feedPlace(feeds, key),
    plan,
    until: other => turnsOf(queues, caller, other),
  }
}

const exportPlace = (places: Places, key: string): Place => {
  if (places.take(key)) return placeOf(() => places.leave(key))
  throw places.runningOf(key) >= EXPORTS_OF_KEY ? TOO_MANY_OF_KEY : TOO_MANY_EXPORTS
}

const TOO_MANY_OF_KEY = new Busy(
  'rate_limited',
  `This API key is limited to ${EXPORTS_OF_KEY} exports at once; wait until one has ended.`,
  {
    zh: `此 API key 最多同时进行 ${EXPORTS_OF_KEY} 个导出；请等待其中一个结束。`,
    details: { retryAfter: 10 },
  },
)

const TOO_MANY_EXPORTS = new Busy('unavailable', 'The service is busy: too many exports are being sent.', {
  zh: '服务繁忙：正在进行的导出过多。',
  details: { retryAfter: 10 },
})

const feedPlace = (places: Places, key: string): Place => {
  if (places.take(key)) return placeOf(() => places.leave(key))
  const open = places.runningOf(key)
  throw open >= places.mostOfKey ? tooManyFeedsOf(open) : TOO_MANY_FEEDS
}

const tooManyFeedsOf = (open: number): Busy =>
  new Busy('rate_limited', `This API key has ${open} feeds open, as many as it may; close one first.`, {
    zh: `此 API key 已打开 ${open} 个事件流，已达上限；请先关闭其中一个。`,
    details: { retryAfter: 10 },
  })

const TOO_MANY_FEEDS = new Busy('unavailable', 'The service is busy: too many feeds are open.', {
  zh: '服务繁忙：打开的事件流过多。',
  details: { retryAfter: 10 },
})

/** A place for a page of a network that follows the chain. Throws as `Turns.feed` does. */
export const livePlace = (places: Places, network: string): Place => {
  if (places.take(network)) return placeOf(() => places.leave(network))
  throw places.runningOf(network) >= places.mostOfKey ? TOO_MANY_OF_NETWORK : TOO_MANY_LIVE
}

/** A place for a file of a network. Throws as `Turns.export` does. */
export const downloadPlace = (places: Places, network: string): Place => {
  if (places.take(network)) return placeOf(() => places.leave(network))
  throw places.runningOf(network) >= places.mostOfKey ? TOO_MANY_FILES_OF_NETWORK : TOO_MANY_FILES
}

const TOO_MANY_FILES_OF_NETWORK = new Busy(
  'rate_limited',
  `A network address may load ${EXPORTS_OF_KEY} files at once; wait until one has ended.`,
  {
    zh: `同一网络地址最多同时下载 ${EXPORTS_OF_KEY} 个文件；请等待其中一个结束。`,
    details: { retryAfter: 10 },
  },
)

const TOO_MANY_FILES = new Busy('unavailable', 'The service is busy: too many files are being sent.', {
  zh: '服务繁忙：正在下载的文件过多。',
  details: { retryAfter: 10 },
})

const TOO_MANY_OF_NETWORK = new Busy(
  'rate_limited',
  'Too many live pages are open from this network address.',
  { zh: '此网络地址打开的实时页面过多。', details: { retryAfter: 60 } },
)

const TOO_MANY_LIVE = new Busy('unavailable', 'The service is busy: too many live pages are open.', {
  zh: '服务繁忙：打开的实时页面过多。',
  details: { retryAfter: 60 },
})
