import { Failure, type Log } from '#failure/failure.ts'
import { httpMetrics } from '#http/counts.ts'
import { rpcMethods } from '#http/rpc-methods.ts'
import type { LoadOptions } from '#load/session.ts'
import { type Counters, counter, type Definition, histogram, label } from '#metrics/counters.ts'
import type { NodeCall } from '#node/http.ts'
import type { CallEnd } from '#store/port.ts'

/** Calls whose ends a store reports. */
const storeCall = label('call', [
  ...(['published', 'identity', 'read', 'hold', 'takeOver', 'append', 'commit', 'state'] satisfies CallEnd['call'][]),
])
/** Calls of nodes by the first segment of their path: the forwarded ones, and those of loading and checking. */
const nodeCall = label('call', [
  ...rpcMethods.map(({ name }) => name),
  ...['getBlockHeaderByRange', 'getBlockTxsByContract', 'listContractStorage'],
])

/** Buckets for the duration of one call, in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The metrics that are counted as events happen. */
export const catalogue = {
  ...httpMetrics,
  storeCalls: counter(
    'iostlens_store_calls_total',
    'Reads and writes of the store, by outcome.',
    storeCall,
    label('outcome', ['ok', 'failed', 'cancelled']),
  ),
  storeSeconds: histogram('iostlens_store_call_duration_seconds', 'Duration of a read or write of the store.', {
    buckets: SECONDS,
    dimensions: [storeCall],
  }),
  storeRetries: counter(
    'iostlens_store_retries_total',
    'Reads restarted because the published height changed, and writes sent again.',
    label('call', ['read', 'write']),
  ),
  nodeCalls: counter(
    'iostlens_node_calls_total',
    'Requests to nodes, by outcome.',
    nodeCall,
    label('outcome', ['ok', 'refused', 'trouble', 'timeout', 'connection', 'too_large', 'no_room', 'cancelled']),
  ),
  nodeSeconds: histogram('iostlens_node_call_duration_seconds', 'Duration of a request to a node.', {
    buckets: SECONDS,
    dimensions: [nodeCall],
  }),
  nodeRetries: counter(
    'iostlens_node_retries_total',
    'Requests to nodes that were made because an earlier one had failed or was slow.',
    nodeCall,
  ),
  nodeBytes: counter('iostlens_node_received_bytes_total', 'Bytes of the answers of nodes.', nodeCall),
  loadedBlocks: counter('iostlens_load_blocks_total', 'Blocks that were loaded and published.'),
  loadedRows: counter(
    'iostlens_load_rows_total',
    'History that was loaded and published: transactions, and records of accounts, contracts and tokens.',
    label('kind', ['transaction', 'record']),
  ),
  loadedBatches: counter('iostlens_load_batches_total', 'Batches that were committed.'),
  loadSeconds: counter(
    'iostlens_load_stage_seconds_total',
    'Time that the load has spent in each stage, or waited for it. Stages overlap; derive includes reading state.',
    label('stage', ['fetch', 'derive', 'state', 'append', 'commit']),
  ),
  loadFailures: counter('iostlens_load_failures_total', 'Failures of the load after which it restarted or ended.'),
  eventLoop: histogram(
    'iostlens_event_loop_delay_seconds',
    'The longest wait for a turn of the event loop in each second.',
    { buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] },
  ),
  cacheReads: counter(
    'iostlens_cache_reads_total',
    'Cache lookups, by hit or miss.',
    label('cache', ['state']),
    label('result', ['hit', 'miss']),
  ),
  droppedLines: counter(
    'iostlens_log_lines_dropped_total',
    'Lines of the log that were dropped because they were read too slowly.',
  ),
} as const satisfies Record<string, Definition>

export type MetricCounts = Counters<keyof typeof catalogue>

/** Listeners that count the events of a load; each batch is logged. */
export const loadCounts = (
  { loadSeconds, loadFailures, loadedBlocks, loadedRows, loadedBatches }: MetricCounts,
  log: Log,
): Pick<LoadOptions, 'onFetched' | 'onDerived' | 'onFailure' | 'onCommitted'> => ({
  onFetched: ms => loadSeconds.add(ms / 1_000, 'fetch'),
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

/** The kinds of failure that the store causes. A request that the caller made wrongly or gave up is none. */
const STORE_FAILURES: ReadonlySet<string> = new Set(['unavailable', 'damaged', 'conflict', 'defect', 'usage'])

/** Counts finished calls of the store. The writes of a load are stages of it, too. */
export const storeCallNote =
  ({ storeCalls, storeSeconds, storeRetries, loadSeconds }: MetricCounts) =>
  ({ call, since, error, retries = 0 }: CallEnd): void => {
    const seconds = (performance.now() - since) / 1_000
    if (retries > 0) storeRetries.add(retries, 'read')
    const isFailed = error instanceof Failure && STORE_FAILURES.has(error.kind)
    storeCalls.add(1, call, error === undefined ? 'ok' : isFailed ? 'failed' : 'cancelled')
    storeSeconds.observe(seconds, call)
    if (call === 'state' || call === 'append' || call === 'commit') loadSeconds.add(seconds, call)
  }

/** Counts finished requests to nodes. */
export const nodeCallNote =
  ({ nodeCalls, nodeSeconds, nodeRetries, nodeBytes }: MetricCounts) =>
  ({ name, outcome, ms, bytes, isRetry }: NodeCall): void => {
    nodeCalls.add(1, name, outcome)
    nodeSeconds.observe(ms / 1_000, name)
    nodeBytes.add(bytes, name)
    if (isRetry) nodeRetries.add(1, name)
  }
