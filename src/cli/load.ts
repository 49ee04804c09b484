import { Failure } from '#failure/failure.ts'
import { load as loadChain } from '#load/load.ts'
import { loadedHeight } from '#load/loaded-height.ts'
import { requireKnownHosts } from '#node/known-hosts.ts'
import { systemClock } from '#time/clock.ts'
import type { Command } from './command.ts'
import { connectNode, withStore } from './compose.ts'
import { progressView } from './progress.ts'
import { LOADING, LOGGING, NODE, STORE } from './setting-groups.ts'

export const load: Command = {
  name: 'load',
  words: [],
  summary: 'load blocks from a node and follow the chain',
  about: [
    'Loads irreversible blocks from a node into the store, starting after the last loaded block, and then follows the chain until it is stopped. --once ends at the last irreversible block, --to HEIGHT at that block.',
    'No block is ever skipped. Loading waits and retries as long as the problem may pass: the node is unreachable or behind, or it sends a block that fails a check. With --once it gives up with exit code 75 when nothing was loaded for --wait.',
    'Other problems end it at once: the host does not exist (2), the store is of another chain or version (3), another loader is running (75).',
  ],
  settings: [...NODE, ...STORE, ...LOADING, 'to', 'once', 'wait', ...LOGGING],
  examples: [
    'iostlens load --node http://127.0.0.1:30001 --once',
    'iostlens load --node http://127.0.0.1:30001 --store http://127.0.0.1:9200/iostlens',
  ],
  run: async ({ values, log, screen, out, signal }) => {
    const node = connectNode(values, log)
    if (node === undefined || values.node === undefined) throw noNode('load')
    await requireKnownHosts(values.node)
    return withStore(values, log, async store => {
      try {
        await store.create()
        await node.watch(() => store.identity())
        const from = await loadedHeight(store)
        const view = progressView({ screen, log, now: systemClock.elapsed, from })
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
      }
    })
  },
}

export const noNode = (command: string): Failure =>
  new Failure('usage', `Command '${command}' needs a node.`, {
    help: 'Set it with --node URL or IOSTLENS_NODE, such as http://127.0.0.1:30001.',
  })
