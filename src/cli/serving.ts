import { join } from 'node:path'
import { USUAL_LEVEL } from '#chain/block.ts'
import { Failure, getErrorMessage, type Log } from '#failure/failure.ts'
import { createAddressLimits } from '#gate/networks.ts'
import { createQueues } from '#gate/queues.ts'
import { createRates, type Rates } from '#gate/rate.ts'
import { followHead } from '#head/follow.ts'
import type { HeadSource } from '#head/head-state.ts'
import { createApp } from '#http/app.ts'
import type { AppOptions } from '#http/app-options.ts'
import { stoppingService } from '#http/stopping.ts'
import { keyring } from '#keys/keyring.ts'
import { TEST_PLAN } from '#keys/plan.ts'
import { createCounters } from '#metrics/counters.ts'
import type { Node } from '#node/port.ts'
import type { Store, Usage } from '#store/port.ts'
import { createHashSource, requireServable, type ServedStore } from '#store/servable.ts'
import { openSqliteUsage } from '#store/sqlite/usage.ts'
import { type Clock, runEvery, systemClock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import type { Command, CommandCall, ExitCode } from './command.ts'
import { connectNode, logRun, requireUsable, withStore } from './compose.ts'
import { formatBaseUrl, formatCall, openServer, requireFreeSocket } from './listen.ts'
import { catalogue, type MetricCounts } from './metrics/catalogue.ts'
import { exposeMetrics, type ReadFrom, serveMetrics, watchEventLoop } from './metrics/readings.ts'
import { watchOperatorFiles } from './operator-files.ts'
import { LOGGING, NODE, SERVING, STORE } from './settings.ts'
import { waitUntilStopped } from './stop.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'serve the API from the store; needs read access only',
  about: [
    'Serves the API from the store. Another process may load the store at the same time.',
    'With --node the service also answers queries about blocks that are not irreversible yet, and passes /rpc/ requests on to the node.',
    'The first line on stdout is the base URL.',
  ],
  settings: [...NODE, ...STORE, ...SERVING, ...LOGGING],
  examples: [
    'iostlens serve',
    'iostlens serve --listen 0.0.0.0:8080 --store http://127.0.0.1:9200/iostlens',
    'iostlens serve --listen unix:/run/iostlens/iostlens.sock --trusted-proxies unix',
  ],
  run: call => {
    const { values, log, out, signal } = call
    const counts = createCounters(catalogue)
    const serving = async (store: Store): Promise<ExitCode> => {
      using node = connectNode(values, log, { counts })
      await requireUsable(store)
      await node?.watch(() => store.identity(), createHashSource(store))
      const { url, stop } = await startServing({ ...call, store, node, counts })
      out(url)
      const logEnd = await logRun(call, 'Serving.', { url, store, node })
      await waitUntilStopped(signal)
      await stop()
      await logEnd()
      return 0
    }
    return withStore(call, serving, { counts })
  },
}

/** Milliseconds between two checks: a deleted or replaced store is logged after a second or two. */
const STORE_CHECK_MS = 1_000

/** The help for an unreachable store, unless the failure has its own. */
const STORE_HELP = "The service keeps checking. Run 'iostlens doctor' if the store does not recover by itself."

type Trouble = { readonly reason: string; readonly help: string }

/**
 * Checks the store regularly, with or without requests. It logs when the store can no longer be served from, with the
 * reason and the remedy, and when it can again, and calls `onRecovery` then. Only one check runs at a time; `stop` does not wait for the last one.
 */
export function watchStore(
  store: ServedStore,
  clock: Pick<Clock, 'sleep'>,
  { log, onRecovery }: { readonly log: Log; readonly onRecovery: () => void },
): { stop(): void } {
  const stopping = new AbortController()
  let trouble: Trouble | undefined
  const check = async (): Promise<Trouble | undefined> => {
    try {
      await requireServable(store, stopping.signal)
      return undefined
    } catch (error) {
      return { reason: getErrorMessage(error), help: (error instanceof Failure ? error.help : undefined) ?? STORE_HELP }
    }
  }
  const note = (found: Trouble | undefined): void => {
    if (found?.reason === trouble?.reason) return
    if (found !== undefined) log('error', 'The store cannot be used; requests are refused.', found)
    else {
      log('info', 'The store can be used again.', { store: store.name })
      onRecovery()
    }
    trouble = found
  }
  const watch = async (): Promise<void> => {
    for (;;) {
      const found = await check()
      if (stopping.signal.aborted) return
      note(found)
      await clock.sleep(STORE_CHECK_MS, stopping.signal)
      if (stopping.signal.aborted) return
    }
  }
  void watch()
  return { stop: () => stopping.abort() }
}

/**
 * Milliseconds between two exchanges of counts. A count stored by another process is fetched in the next
 * exchange, so twice this must be less than the second by which processes may lag behind one another.
 */
const SHARE_MS = 400
/** Maximum time that the start waits for today's counts. */
const FIRST_MS = 5_000
/** Maximum time that the stop waits until the last counts are stored. */
const LAST_SHARE_MS = 2_000

/**
 * Keeps the daily counts of keys in the store, so that a restart does not reset them and all processes on one
 * store count together. If the store refuses counts from the start, they are kept in a local file. While
 * counts cannot be saved at all, the service still serves, counts for this process alone, and logs it.
 * Resolves when today's counts are known, or after a short wait; `stop` stores the last of them.
 */
async function keepDayCounts(
  { values, store: { usage }, log }: ServingParts,
  rates: Rates,
): Promise<{ stop(): Promise<void> }> {
  const file = join(values.data, 'usage.sqlite')
  const local = openSqliteUsage(file)
  let place: Usage = usage
  let hasStored = false
  let isFailing = false
  const report = (text: string, error: unknown): void => {
    if (!isFailing) log('warn', text, { reason: getErrorMessage(error) })
    isFailing = true
  }
  const share = async (): Promise<void> => {
    try {
      await rates.share({
        add: async (day, counts, at) => {
          const all = await place.add(day, counts, at)
          hasStored ||= counts.size > 0
          return all
        },
      })
      isFailing = false
    } catch (error) {
      const isRefused = error instanceof Failure && !error.retryable
      if (place === usage && isRefused && !hasStored) {
        place = local
        report(`The daily request counts of keys are kept in ${file}: the store accepts none.`, error)
        return share()
      }
      report('The daily request counts of keys cannot be saved; a restart resets them.', error)
    }
  }
  const first = share()
  await awaitLimited(first, { ms: FIRST_MS }).catch(() => undefined)
  let last = first
  const sharing = runEvery(systemClock, SHARE_MS, () => {
    last = last.then(share)
    return last
  })
  return {
    stop: async () => {
      sharing.stop()
      await awaitLimited(last.then(share), { ms: LAST_SHARE_MS }).catch(() => undefined)
      await local.close()
    },
  }
}

/**
 * Milliseconds for which a process that shares its port still accepts connections after its stop has begun;
 * each gets one last answer.
 */
const HAND_OVER_MS = 1_000
/** Timeout for writing the last refusals, in milliseconds. */
const REFUSALS_MS = 500

/** The parts needed to start the service. */
type ServingParts = Pick<CommandCall, 'values' | 'version' | 'log' | 'droppedLines'> & {
  readonly store: Store
  readonly node: Node | undefined
  readonly counts: MetricCounts
  /** Pace of the load; absent: the process does not load. */
  readonly pace?: ReadFrom['pace']
}

type Serving = {
  /** Base URL with the actual port. */
  readonly url: string
  /** The way to call a path of the service. */
  readonly callOf: (path: string) => string
  /** Accepts no more requests, lets running ones end, and frees the port. */
  stop(): Promise<void>
}

/** Serves the API; throws 'usage' when the address is not available. What was begun by then is ended. */
export async function startServing(parts: ServingParts): Promise<Serving> {
  const { values, store, node, log, counts, droppedLines } = parts
  const { listen, 'metrics-listen': metricsAddress, 'base-path': basePath, 'reuse-port': isShared } = values
  // Ended in the opposite order. Running requests are completed before: some need blocks above the published one.
  const begun = new AsyncDisposableStack()
  try {
    const files = await watchOperatorFiles(values, { log, clock: systemClock })
    begun.defer(files.close)
    const head = node && followHead({ node, store, prove: values.prove ?? USUAL_LEVEL, clock: systemClock, log })
    begun.defer(() => head?.stop())
    const queues = createQueues({
      maxInFlight: values['max-in-flight'],
      maxExports: values['max-exports'],
      maxFeeds: values['max-feeds'],
      maxFeedsPerKey: values['max-feeds-per-key'],
      deadlineMs: values.deadline,
      clock: systemClock,
    })
    const from = { ...parts, clock: systemClock, queues }
    const listener = metricsAddress === undefined ? undefined : serveMetrics(metricsAddress, from)
    begun.defer(() => listener?.stop())
    const lateness = watchEventLoop(counts, droppedLines)
    begun.defer(lateness.stop)
    const rates = createRates({ clock: systemClock, lateness })
    if ('path' in listen) await requireFreeSocket(listen.path, isShared)
    // Counts of the day are known before any request is answered.
    begun.defer((await keepDayCounts(parts, rates)).stop)
    const metrics = listener === undefined ? exposeMetrics(counts, from) : undefined
    const served = serveApp({ ...parts, files: files.get, head, queues, rates, metrics })
    const watching = watchStore(store, systemClock, {
      log,
      // What was damaged may have been restored; damage that is still there is met again.
      onRecovery: () => counts.damageMet.set(0),
    })
    return {
      url: formatBaseUrl(served.address, basePath),
      callOf: path => formatCall(served.address, `${basePath}${path}`),
      stop: async () => {
        await served.stop()
        watching.stop()
        await begun.disposeAsync()
      },
    }
  } catch (error) {
    await begun.disposeAsync()
    throw error
  }
}

type AppParts = ServingParts &
  Pick<AppOptions, 'metrics' | 'rates' | 'queues'> & {
    readonly files: Awaited<ReturnType<typeof watchOperatorFiles>>['get']
    readonly head: HeadSource | undefined
  }

/** Serves on the address of the settings. Throws 'usage' when it is not available. */
function serveApp(parts: AppParts) {
  const { listen, drain, 'reuse-port': isShared, 'socket-mode': mode } = parts.values
  const stopping = stoppingService()
  const app = createApp({ ...readAppOptions(parts), stopping })
  const server = openServer(app, listen, { isShared, mode })
  return {
    address: server.address,
    stop: async (): Promise<void> => {
      stopping.begin()
      server.hide()
      if (isShared) await Bun.sleep(HAND_OVER_MS)
      const idle = server.stop()
      await Promise.race([idle, Bun.sleep(drain)])
      stopping.end()
      await Promise.race([idle, Bun.sleep(REFUSALS_MS)])
      await server.stop(true)
    },
  }
}

function readAppOptions(parts: AppParts): AppOptions {
  const { values, version, store, node, head, log, files, queues, rates, counts, metrics } = parts
  const testKey = values['test-key'] === 'off' ? undefined : values['test-key']
  return {
    store,
    node,
    log,
    version,
    counts,
    metrics,
    rates,
    queues,
    addresses: createAddressLimits(systemClock),
    clock: systemClock,
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
    keptBytes: values['kept-answers'] * 1_000_000,
    stallMs: values['export-stall'],
    maxLagMs: values['max-lag'],
    readyNeedsNode: values['ready-needs-node'],
    logEach: ['debug', 'info'].includes(values['log-level']) ? values['log-sample'] : 0,
    explorer: values.explorer,
    publicUrl: values['public-url'],
    ...(testKey === undefined ? {} : { testKey }),
  }
}
