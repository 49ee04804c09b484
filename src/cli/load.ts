import { Failure } from '#failure/failure.ts'
import { load as loadChain } from '#load/load.ts'
import { loadedHeight } from '#load/loaded-height.ts'
import { requireKnownHosts } from '#node/known-hosts.ts'
import type { Command } from './command.ts'
import { connectNode, openStore } from './compose.ts'
import { progressView } from './progress.ts'
import { LOADING, LOGGING, NODE, STORE } from './setting-groups.ts'

export const load: Command = {
  name: 'load',
  words: [],
  summary: 'load a node into the store and follow it; --once ends at the last irreversible block',
  about:
    'Loads irreversible blocks from a node into the store, from where the last load ended, and follows the chain until it is stopped. With --once it ends at the last irreversible block, with --to at that height. What a node or store may mend is waited for, and nothing is skipped: a node out of reach, one that lags, a block that can not be right. With --once that ends with code 75 when nothing was loaded for --wait. What can not mend itself ends it at once: a host that does not exist (2), a store of another chain or version (3), another loader (75).',
  settings: [...NODE, ...STORE, ...LOADING, 'to', 'once', 'wait', ...LOGGING],
  examples: [
    'iostlens load --node http://127.0.0.1:30001 --once',
    'iostlens load --node http://127.0.0.1:30001 --store http://127.0.0.1:9200/iostlens',
  ],
  run: async ({ values, log, screen, out, signal }) => {
    const node = connectNode(values, log)
    if (node === undefined || values.node === undefined) throw noNode('load')
    await requireKnownHosts(values.node)
    const store = openStore(values, log)
    try {
      await store.create()
      await node.watch(() => store.identity())
      const from = await loadedHeight(store)
      const view = progressView({ screen, log, now: () => performance.now(), from })
      const { height } = await loadChain(
        { node, store },
        {
          once: values.once,
          patience: { waitMs: values.once ? values.wait : Number.POSITIVE_INFINITY },
          signal,
          onProgress: view.update,
          log,
          ...(values.to === undefined ? {} : { to: values.to }),
        },
      )
      view.end()
      out(height < 0 ? 'Nothing is loaded.' : `Loaded up to block ${height}.`)
      return 0
    } finally {
      node.close()
      await store.close()
    }
  },
}

export const noNode = (command: string): Failure =>
  new Failure('usage', `'${command}' needs a node.`, {
    help: 'Give one with --node URL or IOSTLENS_NODE, such as http://127.0.0.1:30001.',
  })
