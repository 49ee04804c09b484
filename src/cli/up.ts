import type { Log } from '#failure/log.ts'
import { load as loadChain } from '#load/load.ts'
import { loadedHeight } from '#load/loaded-height.ts'
import type { Progress } from '#load/progress.ts'
import { requireKnownHosts } from '#node/known-hosts.ts'
import type { Node } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import type { Command } from './command.ts'
import { connectNode, requireUsable, withStore } from './compose.ts'
import { noNode } from './load.ts'
import { progressView } from './progress.ts'
import { startServing } from './serving.ts'
import { LOADING, LOGGING, NODE, SERVING, STORE } from './setting-groups.ts'
import { welcome } from './welcome.ts'

export const up: Command = {
  name: 'up',
  words: [],
  summary: 'load, follow and serve in one process',
  about: [
    'Loads blocks from a node into the store, follows the chain and serves the API, all in one process.',
    'Requests for data that is not loaded yet get 503. If loading fails, the API stays up: loading starts again after a pause, and the log gives the reason.',
    'The first line on stdout is the base URL. Example calls follow once the last irreversible block is loaded.',
  ],
  settings: [...NODE, ...STORE, ...LOADING, ...SERVING, ...LOGGING],
  examples: [
    'iostlens up --node http://127.0.0.1:30001',
    'iostlens up --node http://127.0.0.1:30001 --test-key try-it --listen 127.0.0.1:8080',
  ],
  run: async ({ values, version, log, screen, out, signal }) => {
    const node = connectNode(values, log)
    const urls = values.node
    if (node === undefined || urls === undefined) throw noNode('up')
    return withStore(values, log, async store => {
      try {
        await store.create()
        await requireUsable(store)
        await node.watch(
          () => store.identity(),
          () => store.published(),
        )
        const from = await loadedHeight(store)
        // With data to serve it goes on; a typing error at the first start is reported at once.
        if (from < 0) await requireKnownHosts(urls)
        const view = progressView({ screen, log, now: systemClock.elapsed, from })
        const serving = await startServing({ values, version, store, node, log })
        const greet = onlyOnce(log, async () => {
          const lines = await welcome({ url: serving.url, testKey: values['test-key'], store })
          screen.keepBar()
          for (const line of lines) out(line)
        })
        const onProgress = (progress: Progress): void => {
          view.update(progress)
          if (progress.height >= progress.target) greet()
        }
        try {
          out(serving.url)
          log('info', 'Serving.', { url: serving.url, store: store.name, node: node.name })
          const started = isLoaded(node, store, signal).then(loaded => {
            if (loaded) greet()
          })
          await loadChain({ node, store }, { once: false, patience: 'always', signal, onProgress, log })
          await started
          view.end()
          return 0
        } finally {
          await serving.stop()
        }
      } finally {
        node.close()
      }
    })
  },
}

/** Does the work at the first call, in the background; a failure is no reason to stop what goes on meanwhile. */
const onlyOnce = (log: Log, work: () => Promise<void>): (() => void) => {
  let done = false
  return () => {
    if (done) return
    done = true
    work().catch((error: unknown) =>
      log('warn', 'The examples could not be printed.', { reason: String(error) }),
    )
  }
}

/**
 * Whether nothing is left to load at the start; false also when the node cannot be asked, which the load then reports.
 */
const isLoaded = async (node: Node, store: Store, signal: AbortSignal): Promise<boolean> => {
  try {
    const published = await store.published()
    return published !== undefined && published.height >= (await node.chainInfo(signal)).libBlock
  } catch {
    return false
  }
}
