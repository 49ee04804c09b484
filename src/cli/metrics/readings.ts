import { readdirSync } from 'node:fs'
import type { Log } from '#failure/failure.ts'
import type { Queues } from '#gate/queues.ts'
import { type Lateness, watchLateness } from '#gate/rate.ts'
import { createMetricsApp } from '#http/app.ts'
import { type Freshness, type Health, isWhole, watchHealth } from '#http/health.ts'
import { createExposition, type Exposition, type ScrapedMetric } from '#metrics/counters.ts'
import type { Node } from '#node/port.ts'
import type { DiskRoom } from '#store/maintain-port.ts'
import type { Store } from '#store/port.ts'
import type { ServedStore } from '#store/servable.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import { formatUrl, startListening } from '../listen.ts'
import { LIMITS, type LoadPace } from '../progress.ts'
import type { Address } from '../setting-readers.ts'
import { catalogue, type MetricCounts } from './catalogue.ts'

/** Maximum wait for a server's disks: the other metrics of a scrape must not wait for a store that hangs. */
const WAIT_MS = 1_000
/** Time for which one reading serves: the metrics of a scrape share it. */
const KEPT_MS = 500

export type ReadFrom = {
  readonly store: ServedStore & Pick<Store, 'disks'>
  readonly node: Pick<Node, 'lastInfo' | 'reportAgeMs' | 'whyUnfit'> | undefined
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly version: string
  /** Requests that run and wait; absent: the process does not serve. */
  readonly queues?: Queues
  /** Pace of the load; absent: the process does not load. */
  readonly pace?: (() => LoadPace | undefined) | undefined
}

type Awaitable<T> = T | Promise<T>

/** A value without labels; none while it is unknown. */
const gauge = (name: string, help: string, read: () => Awaitable<number | null | undefined>): ScrapedMetric => ({
  name,
  help,
  type: 'gauge',
  read: async () => {
    const value = await read()
    return value === null || value === undefined ? [] : [{ value }]
  },
})

/** Values by the value of one label. */
const labelledGauge = (
  label: string,
  {
    read,
    ...own
  }: Pick<ScrapedMetric, 'name' | 'help'> & {
    readonly read: () => Awaitable<readonly (readonly [label: string, value: number])[]>
  },
): ScrapedMetric => ({
  ...own,
  type: 'gauge',
  labels: [label],
  read: async () => (await read()).map(([of, value]) => ({ labels: [of], value })),
})

/** The room on the disks of the store, by server, or by folder for an embedded store; no value while it is unknown. */
function diskReadings({ store, clock }: ReadFrom): readonly ScrapedMetric[] {
  let kept: { readonly disks: Promise<readonly DiskRoom[]>; readonly until: number } | undefined
  const readDisks = (): Promise<readonly DiskRoom[]> => {
    if (kept === undefined || clock.elapsed() >= kept.until)
      kept = { disks: awaitLimited(store.disks(), { ms: WAIT_MS }).catch(() => []), until: clock.elapsed() + KEPT_MS }
    return kept.disks
  }
  return [
    labelledGauge('disk', {
      name: 'iostlens_disk_free_bytes',
      help: "Free space on a disk that has the store's data.",
      read: async () => (await readDisks()).map(({ server, freeBytes }) => [server, freeBytes]),
    }),
    labelledGauge('disk', {
      name: 'iostlens_disk_size_bytes',
      help: 'Size of that disk.',
      read: async () => (await readDisks()).map(({ server, totalBytes }) => [server, totalBytes]),
    }),
  ]
}

/** Metrics of the pace of a load; without values until something was committed. */
const paceReadings = (pace: () => LoadPace | undefined): readonly ScrapedMetric[] => [
  gauge('iostlens_load_progress_ratio', 'Part of the chain that is loaded, 0 to 1.', () => pace()?.share),
  gauge(
    'iostlens_load_seconds_left',
    'Time until the chain is loaded at the present rate; no value while the load makes no progress.',
    () => pace()?.secondsLeft,
  ),
  labelledGauge('of', {
    name: 'iostlens_load_rate',
    help: 'Loading rate per second, over about ten seconds; documents: blocks, transactions and records.',
    read: () => {
      const now = pace()
      return now === undefined ? [] : (['blocks', 'transactions', 'documents'] as const).map(of => [of, now[of]])
    },
  }),
  labelledGauge('by', {
    name: 'iostlens_load_limit',
    help: '1 for the stage that took most of the last seconds of the load: waiting for the node, deriving, or waiting for the store.',
    read: () => {
      const limit = pace()?.limit
      return limit === undefined ? [] : LIMITS.map(by => [by, by === limit ? 1 : 0])
    },
  }),
]

/** The counted metrics, and those that are computed when they are scraped. One with an unknown value is left empty. */
export function exposeMetrics(counts: MetricCounts, from: ReadFrom): Exposition {
  const readHealth = watchHealth({ ...from, counts })
  return createExposition(catalogue, counts, [
    gauge('iostlens_store_readable', '1 when the store can be read and is whole, otherwise 0.', async () =>
      isWhole(await readHealth()) ? 1 : 0,
    ),
    ...heightReadings(readHealth),
    ...diskReadings(from),
    ...nodeReadings(from),
    ...(from.queues === undefined ? [] : queueReadings(from.queues)),
    ...(from.pace === undefined ? [] : paceReadings(from.pace)),
    ...processReadings(from),
  ])
}

function heightReadings(readHealth: () => Promise<Health>): readonly ScrapedMetric[] {
  const fresh = async <K extends keyof Freshness>(name: K): Promise<Freshness[K] | undefined> =>
    (await readHealth()).fresh?.[name]
  return [
    gauge(
      'iostlens_published_height',
      'Height of the last block that is loaded and published.',
      async () => (await readHealth()).published?.height,
    ),
    gauge('iostlens_published_timestamp_seconds', 'Time of that block.', async () =>
      toSeconds((await readHealth()).published?.time),
    ),
    gauge('iostlens_lag_seconds', "Age of the last loaded block by this machine's clock.", () => fresh('lagSeconds')),
    gauge(
      'iostlens_behind_blocks',
      'Irreversible blocks of the node that are not loaded; no value while no node reports it.',
      () => fresh('behind'),
    ),
    gauge(
      'iostlens_behind_seconds',
      "Time of the chain between the last loaded block and the node's last irreversible one; no value while no node reports it.",
      () => fresh('behindSeconds'),
    ),
  ]
}

/** Milliseconds are exact. */
const toSeconds = (time: bigint | undefined): number | undefined =>
  time === undefined ? undefined : Number(time / 1_000_000n) / 1_000

const nodeReadings = ({ node, clock }: ReadFrom): readonly ScrapedMetric[] => [
  gauge('iostlens_node_configured', '1 when the service follows a node, otherwise 0.', () =>
    node === undefined ? 0 : 1,
  ),
  gauge(
    'iostlens_node_reachable',
    '1 when a node of the chain responded recently, otherwise 0; no value without a node.',
    () => (node === undefined ? undefined : node.lastInfo() === undefined ? 0 : 1),
  ),
  gauge('iostlens_node_heard_timestamp_seconds', 'When a node of the chain last responded.', () => {
    const ago = node?.reportAgeMs()
    return ago === undefined ? undefined : (clock.now() - ago) / 1_000
  }),
  gauge('iostlens_node_irreversible_height', "The node's last irreversible block.", () => node?.lastInfo()?.libBlock),
  gauge('iostlens_node_head_height', "The node's head block.", () => node?.lastInfo()?.headBlock),
  gauge('iostlens_node_head_timestamp_seconds', "Time of the node's head block.", () =>
    toSeconds(node?.lastInfo()?.headTime),
  ),
]

const QUEUES = ['store', 'visitors', 'node', 'aside', 'lookups', 'rankings', 'wholeRankings'] as const
/** Streams, which stay open and never queue; each has a gauge of its own. */
const STREAMS = ['exports', 'feeds', 'live', 'downloads'] as const

const queueReadings = (queues: Queues): readonly ScrapedMetric[] => [
  labelledGauge('queue', {
    name: 'iostlens_requests_running',
    help: 'Requests in progress, by kind; visitors: pages; aside: those that wait for a node during an answer; lookups: for a pending transaction; rankings: pages of rankings of the past; wholeRankings: exports of them.',
    read: () => QUEUES.map(queue => [queue, queues[queue].permits.count()]),
  }),
  labelledGauge('queue', {
    name: 'iostlens_requests_waiting',
    help: 'Requests that wait for their turn.',
    read: () => QUEUES.map(queue => [queue, queues[queue].countWaiting()]),
  }),
  labelledGauge('queue', {
    name: 'iostlens_requests_limit',
    help: 'Maximum number of requests in progress.',
    read: () => [
      ...QUEUES.map(queue => [queue, queues[queue].permits.bounds.running] as const),
      ...STREAMS.map(stream => [stream, queues[stream].bounds.running] as const),
    ],
  }),
  gauge('iostlens_feeds_open', 'Feeds that are being sent.', () => queues.feeds.count()),
  gauge('iostlens_live_pages_open', 'Live pages of the explorer that are open.', () => queues.live.count()),
  gauge('iostlens_exports_open', 'Exports that are being sent.', () => queues.exports.count()),
  gauge('iostlens_downloads_open', 'Downloads of the explorer that are being sent.', () => queues.downloads.count()),
]

const processReadings = ({ version }: ReadFrom): readonly ScrapedMetric[] => [
  labelledGauge('version', {
    name: 'iostlens_build_info',
    help: 'The version of the program; always 1.',
    read: () => [[version, 1]],
  }),
  gauge('iostlens_heap_bytes', 'Memory of the JavaScript heap.', () => process.memoryUsage().heapUsed),
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss()),
  gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', () => STARTED / 1_000),
  gauge('process_open_fds', 'Number of open file descriptors.', () => {
    try {
      return readdirSync('/proc/self/fd').length
    } catch {
      // Only Linux lists them.
      return undefined
    }
  }),
  {
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    type: 'counter',
    read: () => {
      const { user, system } = process.cpuUsage()
      return [{ value: (user + system) / 1_000_000 }]
    },
  },
]

const STARTED = Date.now() - process.uptime() * 1_000

/** Records each second the lateness of the event loop and the dropped log lines. Does not keep the process alive. */
export function watchEventLoop(counts: MetricCounts, droppedLines: () => number): Lateness {
  return watchLateness(ms => {
    counts.eventLoop.observe(ms / 1_000)
    counts.droppedLines.set(droppedLines())
  })
}

/** Serves `/metrics` on an address of its own. Throws 'usage' when the address is not available. */
export function serveMetrics(
  address: Address,
  { counts, log, ...from }: ReadFrom & { readonly counts: MetricCounts; readonly log: Log },
): { readonly url: string; readonly stop: () => Promise<void> } {
  const app = createMetricsApp({
    metrics: exposeMetrics(counts, from),
    version: from.version,
    log,
    clock: systemClock,
    counts,
  })
  const server = startListening(address, '--metrics-listen', () => {
    app.listen({ hostname: address.host, port: address.port, reusePort: false })
    return app.server
  })
  const url = formatUrl({ host: address.host, port: server.port ?? address.port })
  log('info', 'Serving metrics.', { url: `${url}/metrics` })
  return { url, stop: () => server.stop(true) }
}
