import { Failure } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import type { LoadOptions } from '#load/load-options.ts'
import type { NodeCall } from '#node/http.ts'
import type { Node } from '#node/port.ts'
import type { CallEnd } from '#store/port.ts'
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

/** Listeners that count the events of a load; each batch is logged. */
export const loadCounts = (
  { loadSeconds, loadFailures, loadedBlocks, loadedRows, loadedBatches }: MetricCounts,
  log: Log,
): Pick<LoadOptions, 'onDerived' | 'onFailure' | 'onCommitted'> => ({
  onDerived: ms => loadSeconds.add(ms / 1_000, 'derive'),
  onFailure: () => loadFailures.add(1),
  onCommitted: ({ blocks, transactions, records, end: { height }, ms }) => {
    loadedBlocks.add(blocks)
    loadedRows.add(transactions, 'transaction')
    loadedRows.add(records, 'record')
    loadedBatches.add(1)
    log('info', 'Committed a batch.', { blocks, transactions, records, height, ms })
  },
})

/** Counts finished calls of the store. The writes of a load are stages of it, too. */
export const storeCallNote =
  ({ storeCalls, storeSeconds, storeRetries, loadSeconds }: MetricCounts) =>
  ({ call, since, error, retries = 0 }: CallEnd): void => {
    const seconds = (performance.now() - since) / 1_000
    if (retries > 0) storeRetries.add(retries, 'read')
    storeCalls.add(1, call, error === undefined ? 'ok' : classifyError(error))
    storeSeconds.observe(seconds, call)
    if (call === 'state' || call === 'append' || call === 'commit') loadSeconds.add(seconds, call)
  }

/** A request that the caller made wrongly or gave up is no failure of the store. */
const classifyError = (error: unknown): string =>
  error instanceof Failure && FAILED.has(error.kind) ? 'failed' : 'cancelled'

/** The kinds of failure that the store causes; a read may throw others. */
const FAILED: ReadonlySet<string> = new Set(['unavailable', 'damaged', 'conflict', 'defect', 'usage'])

/** Counts lookups in the cache of state documents. */
export const cacheNote =
  ({ cacheReads }: MetricCounts) =>
  (isHit: boolean): void =>
    cacheReads.add(1, 'state', isHit ? 'hit' : 'miss')

/** Counts finished requests to nodes. */
export const nodeCallNote =
  ({ nodeCalls, nodeSeconds, nodeRetries, nodeBytes }: MetricCounts) =>
  ({ name, outcome, ms, bytes, isRetry }: NodeCall): void => {
    nodeCalls.add(1, name, outcome)
    nodeSeconds.observe(ms / 1_000, name)
    nodeBytes.add(bytes, name)
    if (isRetry) nodeRetries.add(1, name)
  }
