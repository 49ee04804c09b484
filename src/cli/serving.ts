import { join } from 'node:path'
import { USUAL_LEVEL } from '#chain/proof.ts'
import { type Capacity, createQueues, type Queues } from '#gate/queues.ts'
import { createRates, type Rates } from '#gate/rate.ts'
import { followHead } from '#head/follow.ts'
import type { HeadSource } from '#head/head-state.ts'
import { createApp } from '#http/app.ts'
import type { AppOptions } from '#http/app-options.ts'
import { stoppingService } from '#http/stopping.ts'
import { keyring } from '#keys/keyring.ts'
import { TEST_PLAN } from '#keys/plan.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { openSqliteUsage } from '#store/sqlite/usage.ts'
import { systemClock } from '#time/clock.ts'
import type { CommandCall } from './command.ts'
import { type Counting, keepCounts } from './keep-counts.ts'
import { formatBaseUrl, formatCall } from './listen.ts'
import { isWritten } from './log.ts'
import type { MetricCounts } from './metrics/catalogue.ts'
import type { ReadFrom } from './metrics/readings.ts'
import { exposeMetrics, serveMetrics, watchEventLoop } from './metrics/serve-metrics.ts'
import { openServer } from './open-server.ts'
import { type OperatorFiles, watchOperatorFiles } from './operator-files.ts'
import type { Address, SocketPath } from './readers.ts'
import type { Values } from './settings.ts'
import { requireFreeSocket } from './socket-file.ts'
import { watchStore } from './watch-store.ts'

/**
 * Milliseconds for which a process that shares its port still accepts connections after its stop has begun;
 * each gets one last answer.
 */
const HAND_OVER_MS = 1_000
/** Timeout for writing the last refusals, in milliseconds. */
const LAST_MS = 500

const MEGABYTE = 1_000_000

/** The parts needed to start the service. */
export type ServingParts = Pick<CommandCall, 'values' | 'version' | 'log' | 'droppedLines'> & {
  readonly store: Store
  readonly node: Node | undefined
  readonly counts: MetricCounts
  /** Pace of the load; absent: the process does not load. */
  readonly pace?: ReadFrom['pace']
}

export type Serving = {
  /** Base URL with the actual port. */
  readonly url: string
  /** The way to call a path of the service. */
  readonly callOf: (path: string) => string
  /** Accepts no more requests, lets running ones end, and frees the port. */
  stop(): Promise<void>
}

/** Serves the API; throws 'usage' when the address is not available. */
export async function startServing(parts: ServingParts): Promise<Serving> {
  const { values, store, log, counts, droppedLines } = parts
  const { 'metrics-listen': metricsAddress, 'base-path': basePath } = values
  const files = await watchOperatorFiles(values, { log, clock: systemClock })
  const head = startFollowing(parts)
  const queues = createQueues({ ...readCapacity(values), deadlineMs: values.deadline, clock: systemClock })
  const from = { ...parts, clock: systemClock, queues }
  const metrics = metricsAddress === undefined ? undefined : serveMetrics(metricsAddress, from)
  const lateness = watchEventLoop(counts, droppedLines)
  const rates = createRates({ clock: systemClock, lateness })
  const exposed = metrics === undefined ? exposeMetrics(counts, from) : undefined
  const app = { ...parts, files: files.get, head, queues, rates, exposed }
  const { served, counting } = await beginServing(app).catch((error: unknown) => {
    head?.stop()
    throw error
  })
  const watching = watchStore(store, systemClock, {
    log,
    // What was damaged may have been restored; damage that is still there is met again.
    onRecovery: () => counts.damageMet.set(0),
  })
  return {
    url: formatBaseUrl(served.address, basePath),
    callOf: path => formatCall(served.address, `${basePath}${path}`),
    stop: async () => {
      // Running requests are completed first; some of them need blocks above the published one.
      await served.stop()
      watching.stop()
      lateness.stop()
      await metrics?.stop()
      head?.stop()
      files.close()
      await counting.stop()
    },
  }
}

function startFollowing({ values, store, node, log }: ServingParts) {
  return node === undefined
    ? undefined
    : followHead({ node, store, prove: values.prove ?? USUAL_LEVEL, clock: systemClock, log })
}

function keepDayCounts({ values, store, log }: ServingParts, rates: Rates): Promise<Counting> {
  const file = join(values.data, 'usage.sqlite')
  const local = { usage: openSqliteUsage(file), file }
  return keepCounts(rates, { usage: store.usage, local, clock: systemClock }, log)
}

type AppParts = ServingParts & {
  /** The current contents of the operator's files. */
  readonly files: () => OperatorFiles
  /** The head blocks; undefined: no node is followed. */
  readonly head: HeadSource | undefined
  readonly queues: Queues
  readonly rates: Rates
  /** The metrics that are served beside the API. */
  readonly exposed: AppOptions['metrics']
}

/** The listening app. */
type ServedApp = {
  /** The address with the actual port. */
  readonly address: Address | SocketPath
  /** Accepts no more requests, lets running ones end, and frees the port. */
  stop(): Promise<void>
}

/** Counts of the day are known before any request is answered. */
async function beginServing(parts: AppParts) {
  const { listen, 'reuse-port': isShared } = parts.values
  if ('path' in listen) await requireFreeSocket(listen.path, isShared)
  const counting = await keepDayCounts(parts, parts.rates)
  try {
    return { served: serveApp(parts), counting }
  } catch (error) {
    await counting.stop()
    throw error
  }
}

/** Serves on the address of the settings. Throws 'usage' when it is not available. */
function serveApp(parts: AppParts): ServedApp {
  const { listen, drain, 'reuse-port': isShared, 'socket-mode': mode } = parts.values
  const stopping = stoppingService()
  const app = createApp({ ...readAppOptions(parts), stopping })
  const server = openServer(app, listen, { isShared, mode })
  return {
    address: server.address,
    stop: async () => {
      stopping.begin()
      server.hide()
      if (isShared) await Bun.sleep(HAND_OVER_MS)
      const idle = server.stop()
      await Promise.race([idle, Bun.sleep(drain)])
      stopping.end()
      await Promise.race([idle, Bun.sleep(LAST_MS)])
      await server.stop(true)
    },
  }
}

function readCapacity(values: Values): Capacity {
  return {
    maxInFlight: values['max-in-flight'],
    maxExports: values['max-exports'],
    maxFeeds: values['max-feeds'],
    maxFeedsPerKey: values['max-feeds-per-key'],
  }
}

function readAppOptions(parts: AppParts): AppOptions {
  const { values, version, store, node, head, log, files, queues, rates, counts, exposed } = parts
  const testKey = values['test-key'] === 'off' ? undefined : values['test-key']
  return {
    ...{ store, node, log, version, counts, rates, queues, clock: systemClock },
    ...readCapacity(values),
    ...(head === undefined ? {} : { head }),
    keyring: keyring({
      store: store.keys,
      clock: systemClock,
      ...(testKey === undefined ? {} : { testKey: { key: testKey, plan: TEST_PLAN } }),
    }),
    ...(values['trusted-proxies'] === undefined ? {} : { trustedProxies: values['trusted-proxies'] }),
    prices: { get: () => files().prices },
    priceHistory: { get: () => files().priceHistory },
    profiles: { get: producer => files().profiles?.get(producer) },
    labels: files().labels,
    defaults: { format: values.format, compat: values.compat },
    basePath: values['base-path'],
    deadlineMs: values.deadline,
    rankingMs: values['ranking-limit'],
    keptBytes: values['kept-answers'] * MEGABYTE,
    stallMs: values['export-stall'],
    maxLagMs: values['max-lag'],
    readyNeedsNode: values['ready-needs-node'],
    logEach: isWritten('info', values['log-level']) ? values['log-sample'] : 0,
    metrics: exposed,
    explorer: values.explorer,
    publicUrl: values['public-url'],
    ...(testKey === undefined ? {} : { testKey }),
  }
}
