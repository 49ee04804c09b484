import type { Log } from '#failure/log.ts'
import type { Lateness } from '#gate/lateness.ts'
import { addressLimits } from '#gate/networks.ts'
import type { Counts } from '#gate/queues.ts'
import { createRates } from '#gate/rate.ts'
import type { HeadSource } from '#head/head-source.ts'
import { createApp } from '#http/app.ts'
import type { AppOptions } from '#http/app-options.ts'
import { stoppingService } from '#http/stopping.ts'
import { keyring } from '#keys/keyring.ts'
import { TEST_PLAN } from '#keys/plan.ts'
import { countersIn } from '#metrics/counters.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { isWritten } from './log.ts'
import { catalogue } from './metrics/catalogue.ts'
import { type ProcessMetrics, watchThread } from './metrics/process-metrics.ts'
import type { ReadFrom } from './metrics/readings.ts'
import { exposedBy } from './metrics/serve-metrics.ts'
import { openServer } from './open-server.ts'
import type { OperatorFiles } from './operator-files.ts'
import type { Address, SocketPath } from './readers.ts'
import type { Values } from './settings.ts'

/**
 * Milliseconds for which a process that shares its port still accepts connections after its stop has begun;
 * each gets one last answer.
 */
const HAND_OVER_MS = 1_000
/** Timeout for writing the last refusals, in milliseconds. */
const LAST_MS = 500

const MEGABYTE = 1_000_000

/** The maximum duration of a stop, in milliseconds. */
export const stopMs = (values: Pick<Values, 'drain' | 'reuse-port'>): number =>
  (values['reuse-port'] ? HAND_OVER_MS : 0) + values.drain + LAST_MS

export type AppParts = {
  readonly values: Values
  readonly version: string
  readonly store: Store
  readonly node: Node | undefined
  /** The head blocks; absent: no node is followed. */
  readonly head?: HeadSource
  readonly log: Log
  /** The current contents of the operator's files. */
  readonly files: () => OperatorFiles
  /** Counters of callers in this thread. */
  readonly callers: Counts
  readonly metrics: Pick<ProcessMetrics, 'memory'>
  /** Pace of the load; absent: this thread does not load. */
  readonly pace?: ReadFrom['pace']
  /** The number of threads that serve, and the number of this one, from 0. */
  readonly threads: number
  readonly thread: number
  /** Number of this thread's log lines dropped so far. */
  readonly droppedLines: () => number
}

/** The listening app of one thread. */
export type ServedApp = {
  /** The address with the actual port. */
  readonly address: Address | SocketPath
  /** Accepts no more requests, lets running ones end, and frees the port. */
  stop(): Promise<void>
}

/** Serves on an address, which other threads of the process may share. Throws 'usage' when it is not available. */
export const serveApp = (
  parts: AppParts,
  { address, isShared }: { readonly address: Address | SocketPath; readonly isShared: boolean },
): ServedApp => {
  const { values, metrics, thread, droppedLines } = parts
  const stopping = stoppingService()
  const counts = countersIn(catalogue, metrics.memory, thread)
  const lateness = watchThread(counts, droppedLines)
  const app = createApp(appOptionsOf(parts, { lateness, stopping, counts }))
  const server = openServer(app, address, { isShared, mode: values['socket-mode'] })
  return {
    address: server.address,
    stop: async () => {
      stopping.begin()
      server.hide()
      if (values['reuse-port']) await Bun.sleep(HAND_OVER_MS)
      const idle = server.stop()
      await Promise.race([idle, Bun.sleep(values.drain)])
      stopping.end()
      await Promise.race([idle, Bun.sleep(LAST_MS)])
      await server.stop(true)
      lateness.stop()
    },
  }
}

type Own = Required<Pick<AppOptions, 'stopping' | 'counts'>> & { readonly lateness: Lateness }

const appOptionsOf = (
  { values, version, store, node, head, log, files, callers, metrics, threads, pace }: AppParts,
  { lateness, stopping, counts }: Own,
): AppOptions => {
  const testKey = values['test-key'] === 'off' ? undefined : values['test-key']
  const { queues: places, uses, networks: times } = callers
  const exposedHere = exposedBy(metrics, {
    ...{ store, node, clock: systemClock, version, threads, places, pace },
  })
  return {
    ...{ store, node, log, version, counts, stopping, clock: systemClock },
    ...(head === undefined ? {} : { head }),
    keyring: keyring({
      store: store.keys,
      clock: systemClock,
      ...(testKey === undefined ? {} : { testKey: { key: testKey, plan: TEST_PLAN } }),
    }),
    rates: createRates({ now: systemClock.now, lateness, uses }),
    addresses: addressLimits({ now: systemClock.now, times }),
    ...(values['trusted-proxies'] === undefined ? {} : { trustedProxies: values['trusted-proxies'] }),
    prices: { get: () => files().prices },
    priceHistory: { get: () => files().priceHistory },
    profiles: { get: producer => files().profiles?.get(producer) },
    labels: files().labels,
    defaults: { format: values.format, compat: values.compat },
    basePath: values['base-path'],
    deadlineMs: values.deadline,
    rankingMs: values['ranking-limit'],
    maxInFlight: values['max-in-flight'],
    keptBytes: values['kept-answers'] * MEGABYTE,
    maxExports: values['max-exports'],
    maxFeeds: values['max-feeds'],
    maxFeedsPerKey: values['max-feeds-per-key'],
    stallMs: values['export-stall'],
    maxLagMs: values['max-lag'],
    readyNeedsNode: values['ready-needs-node'],
    logEach: isWritten('info', values['log-level']) ? values['log-sample'] : 0,
    places,
    metrics: values['metrics-listen'] === undefined ? exposedHere : undefined,
    explorer: values.explorer,
    publicUrl: values['public-url'],
    ...(testKey === undefined ? {} : { testKey }),
  }
}
