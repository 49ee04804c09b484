import type { LoadOptions } from '#load/load-options.ts'
import type { NodeCall } from '#node/http.ts'
import type { Node } from '#node/port.ts'
import type { MetricCounts } from './catalogue.ts'

/** A wrapper of a node that counts the time spent waiting for its blocks. */
export const countedBlocks = (node: Node, { loadSeconds }: MetricCounts): Node => ({
  ...node,
  blocks: async function* (range) {
    const blocks = node.blocks(range)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const since = performance.now()
        const { done, value } = await blocks.next()
        loadSeconds.add((performance.now() - since) / 1_000, 'fetch')
        if (done === true) return
        yield value
      }
    } finally {
      await blocks.return?.()
    }
  },
})

/** Listeners that count the events of a load. */
export const loadCounts = ({
  loadSeconds,
  loadFailures,
}: MetricCounts): Pick<LoadOptions, 'onDerived' | 'onFailure'> => ({
  onDerived: ms => loadSeconds.add(ms / 1_000, 'derive'),
  onFailure: () => loadFailures.add(1),
})

/** Counts finished requests to nodes. */
export const nodeCallNote =
  ({ nodeCalls, nodeSeconds, nodeRetries, nodeBytes }: MetricCounts) =>
  ({ name, outcome, ms, bytes, isRetry }: NodeCall): void => {
    nodeCalls.add(1, name, outcome)
    nodeSeconds.observe(ms / 1_000, name)
    nodeBytes.add(bytes, name)
    if (isRetry) nodeRetries.add(1, name)
  }
