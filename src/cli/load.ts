import { Failure } from '#failure/failure.ts'
import { load as loadChain, loadedHeight } from '#load/load.ts'
import { requireKnownHosts } from '#node/http.ts'
import { blocksToCompare } from '#store/servable.ts'
import { systemClock } from '#time/clock.ts'
import { type Command, parseToHeight } from './command.ts'
import { logRun, withChain } from './compose.ts'
import { loadCounts } from './metrics/catalogue.ts'
import { serveMetrics, watchEventLoop } from './metrics/readings.ts'
import { type ProgressView, progressView } from './progress.ts'
import { LOADING, LOGGING, NODE, STORE } from './settings.ts'

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
        await node.watch(() => store.identity(), blocksToCompare(store))
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
