import { createCounters } from '#metrics/counters.ts'
import type { Store } from '#store/port.ts'
import { storedBlocks } from '#store/servable.ts'
import type { Command, ExitCode } from './command.ts'
import { connectNode, requireUsable, withStore } from './compose.ts'
import { catalogue } from './metrics/catalogue.ts'
import { startServing } from './serving.ts'
import { LOGGING, NODE, SERVING, STORE } from './settings.ts'
import { untilStopped } from './stop.ts'
import { logRun } from './with-chain.ts'

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
    const { values, version, log, out, signal } = call
    const counts = createCounters(catalogue)
    const serving = async (store: Store): Promise<ExitCode> => {
      const node = connectNode(values, log, { counts })
      try {
        await requireUsable(store)
        await node?.watch(() => store.identity(), storedBlocks(store))
        const served = await startServing({ ...call, store, node, counts })
        out(served.url)
        const message = 'Serving.'
        const logEnd = await logRun(log, { message, url: served.url }, { version, store, node })
        await untilStopped(signal)
        await served.stop()
        await logEnd()
        return 0
      } finally {
        node?.close()
      }
    }
    return withStore(call, serving, { counts })
  },
}
