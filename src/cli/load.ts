import { Failure } from '#failure/failure.ts'
import { wealth } from '#indices/wealth.ts'
import { load as loadChain, loadedHeight } from '#load/load.ts'
import type { LoadProgress } from '#load/session.ts'
import { requireKnownHosts } from '#node/http.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { createHashSource } from '#store/servable.ts'
import { systemClock } from '#time/clock.ts'
import { type Command, parseToHeight } from './command.ts'
import { logRun, requireUsable, withChain } from './compose.ts'
import { loadCounts } from './metrics/catalogue.ts'
import { serveMetrics, watchEventLoop } from './metrics/readings.ts'
import { type ProgressView, progressView } from './progress.ts'
import { startServing } from './serving.ts'
import { LOADING, LOGGING, NODE, SERVING, STORE } from './settings.ts'

export const load: Command = {
  name: 'load',
  summary: 'load blocks from a node and follow the chain',
  about: [
    'Loads irreversible blocks from a node into the store, starting after the last loaded block, and then follows the chain until it is stopped. --once ends at the last irreversible block, --to HEIGHT at that block.',
    'No block is ever skipped. Loading waits and retries as long as the problem may pass: the node is unreachable or behind, or it sends a block that fails a check. With --once it gives up with exit code 75 when nothing was loaded for --wait.',
    'Other problems end it at once: the store cannot be opened or refuses the password (2), it is of another chain or version (3), the host is unknown or another loader is running (75). With --once or --to a stop before the end gives 75, too.',
  ],
  settings: [...NODE, ...STORE, ...LOADING, 'threads', 'metrics-listen', 'to', 'once', 'wait', ...LOGGING],
  examples: [
    'iostlens load --node http://127.0.0.1:30001 --once',
    'iostlens load --node http://127.0.0.1:30001 --store http://127.0.0.1:9200/iostlens',
  ],
  run: call => {
    const { values, version, log, screen, out, signal, droppedLines } = call
    const address = values['metrics-listen']
    const to = parseToHeight(values)
    return withChain('load', call, async ({ node, urls, store, counts }) => {
      await requireKnownHosts(urls)
      let view: ProgressView | undefined
      const exposed = { counts, store, node, log, version, pace: () => view?.pace(), clock: systemClock }
      const listener = address === undefined ? undefined : serveMetrics(address, exposed)
      const watching = listener && watchEventLoop(counts, droppedLines)
      try {
        await store.create()
        await node.watch(() => store.identity(), createHashSource(store))
        const from = await loadedHeight(store)
        const logEnd = await logRun(call, 'Loading.', { store, node })
        view = progressView({ screen, log, from })
        const { height } = await loadChain(
          { node, store },
          {
            ...loadCounts(counts, log),
            once: values.once,
            retry: { waitMs: values.once ? values.wait : Number.POSITIVE_INFINITY },
            signal,
            onProgress: view.update,
            log,
            ...(to === undefined ? {} : { to }),
          },
        )
        view.end()
        await logEnd()
        if (signal.aborted && (values.once || height < (to ?? height)))
          throw new Failure('deadline', `Stopped after block ${height}, before the end; run it again to continue.`)
        out(height < 0 ? 'Nothing is loaded.' : `Loaded up to block ${height}.`)
        return 0
      } finally {
        watching?.stop()
        await listener?.stop()
      }
    })
  },
}

/** First steps, printed when everything is loaded: the shared test key, and calls that work on any chain. */
export async function writeWelcome(options: {
  readonly url: string
  /** The way to call a path of the service. */
  readonly callOf: (path: string) => string
  /** The shared test key, or `off`. */
  readonly testKey: string
  /** Whether the pages of the explorer are served. */
  readonly isExplored: boolean
  readonly store: Pick<Store, 'name' | 'read'>
}): Promise<readonly string[]> {
  const { url, callOf, testKey, isExplored, store } = options
  const { height, richest } = await store.read(async view => ({
    height: view.at.height,
    richest: (await view.page(wealth, 'richest', { offset: 0, limit: 1 }))[0]?.owner,
  }))
  const key = testKey === 'off' ? 'YOUR_KEY' : testKey
  const call = (module: string, action: string, parameters = ''): string =>
    `  ${callOf(`/api/?module=${module}&action=${action}${parameters}&apikey=${key}`)}`
  return [
    '',
    `Loaded up to block ${height}, the last irreversible block. Serving on ${url}`,
    ...(isExplored && url.startsWith('http') ? [`Open ${url}/ in a browser to see it.`] : []),
    '',
    testKey === 'off'
      ? `No shared test key is enabled; create a key with 'iostlens keys add NAME --store ${store.name}'.`
      : `Shared test key: ${testKey}`,
    '',
    'Try:',
    call('base', 'get-overview'),
    call('base', 'get-wealth-list', '&size=10'),
    call('block', 'get-latest-block'),
    call('block', 'get-block-detail', '&number=1'),
    call('token', 'get-token-holder', '&token=iost'),
    ...(richest === undefined ? [] : [call('account', 'get-account-tx', `&account=${encodeURIComponent(richest)}`)]),
    `  ${callOf('/docs/en')}`,
    '',
  ]
}

export const up: Command = {
  name: 'up',
  summary: 'load, follow and serve in one process',
  about: [
    'Loads blocks from a node into the store, follows the chain and serves the API, all in one process.',
    'Requests for data that is not loaded yet get 503. If loading fails, the API stays up: loading starts again after a pause, and the log gives the reason.',
    'The first line on stdout is the base URL. Example calls follow once the last irreversible block is loaded.',
  ],
  settings: [...NODE, ...STORE, ...LOADING, 'threads', ...SERVING, ...LOGGING],
  examples: [
    'iostlens up --node http://127.0.0.1:30001',
    'iostlens up --node http://127.0.0.1:30001 --test-key try-it --listen 127.0.0.1:8080',
  ],
  run: call => {
    const { values, log, screen, out, signal } = call
    return withChain('up', call, async ({ node, urls, store, counts }) => {
      await store.create()
      await requireUsable(store)
      await node.watch(() => store.identity(), createHashSource(store))
      const from = await loadedHeight(store)
      // If there is data to serve, the command goes on; at the first start a mistyped host is reported at once.
      if (from < 0) await requireKnownHosts(urls)
      const view = progressView({ screen, log, from })
      const serving = await startServing({ ...call, store, node, counts, pace: view.pace })
      let isGreeted = false
      // In the background: its failure is logged and stops nothing else.
      const greet = async (): Promise<void> => {
        if (isGreeted) return
        isGreeted = true
        try {
          const options = { ...serving, testKey: values['test-key'], isExplored: values.explorer, store }
          const lines = await writeWelcome(options)
          screen.keepBar()
          for (const line of lines) out(line)
        } catch (error) {
          log('warn', 'The examples could not be printed.', { reason: String(error) })
        }
      }
      const onProgress = (progress: LoadProgress): void => {
        view.update(progress)
        if (progress.height >= progress.target) void greet()
      }
      let logEnd: Awaited<ReturnType<typeof logRun>> | undefined
      try {
        out(serving.url)
        logEnd = await logRun(call, 'Serving.', { url: serving.url, store, node })
        const started = isLoaded(node, store, signal).then(loaded => {
          if (loaded) void greet()
        })
        await loadChain(
          { node, store },
          { once: false, retry: 'always', signal, onProgress, log, ...loadCounts(counts, log) },
        )
        await started
        view.end()
      } finally {
        await serving.stop()
      }
      await logEnd()
      return 0
    })
  },
}

/**
 * Whether nothing is left to load at the start. False also when the node cannot be reached, which the load
 * then reports.
 */
async function isLoaded(node: Node, store: Store, signal: AbortSignal): Promise<boolean> {
  try {
    const published = await store.published()
    return published !== undefined && published.height >= (await node.chainInfo(signal)).libBlock
  } catch {
    return false
  }
}
