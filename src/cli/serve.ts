import type { Command } from './command.ts'
import { connectNode, requireUsable, withStore } from './compose.ts'
import { startServing } from './serving.ts'
import { LOGGING, NODE, SERVING, STORE } from './setting-groups.ts'
import { stopped } from './stop.ts'

export const serve: Command = {
  name: 'serve',
  words: [],
  summary: 'serve the API from the store; needs read access only',
  about: [
    'Serves the API from the store. Another process may load the store at the same time.',
    'With --node the service also answers queries about blocks that are not irreversible yet, and passes /rpc/ requests on to the node.',
    'The first line on stdout is the base URL.',
  ],
  settings: [...NODE, ...STORE, ...SERVING, ...LOGGING],
  examples: ['iostlens serve', 'iostlens serve --listen 0.0.0.0:8080 --store http://127.0.0.1:9200/iostlens'],
  run: ({ values, version, log, out, signal }) =>
    withStore(values, log, async store => {
      const node = connectNode(values, log)
      try {
        await requireUsable(store)
        await node?.watch(
          () => store.identity(),
          () => store.published(),
        )
        const serving = await startServing({ values, version, store, node, log })
        out(serving.url)
        log('info', 'Serving.', { url: serving.url, store: store.name, node: node?.name ?? 'none' })
        await stopped(signal)
        await serving.stop()
        return 0
      } finally {
        node?.close()
      }
    }),
}
