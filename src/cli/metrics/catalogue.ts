import { httpMetrics } from '#http/counts.ts'
import { rpcMethods } from '#http/rpc-methods.ts'
import type { Counting } from '#metrics/counting.ts'
import { type Definition, label } from '#metrics/definition.ts'

/** Calls of a store, named as in its port. */
const storeCall = label('call', [
  ...['published', 'identity', 'read', 'hold', 'get', 'getMany', 'find', 'findAny', 'startingWith', 'page'],
  ...['records', 'newRecords', 'moments', 'takeOver', 'append', 'commit', 'state'],
])
/** Calls of nodes by the first segment of their path: the forwarded ones, and those of loading and checking. */
const NODE_CALLS = [
  ...new Set([
    ...rpcMethods.map(({ name }) => name),
    ...['getBlockHeaderByRange', 'getBlockTxsByContract', 'listContractStorage'],
  ]),
]
const nodeCall = label('call', NODE_CALLS)
/** Stages of a batch. */
const STAGES = ['fetch', 'derive', 'state', 'append', 'commit'] as const

/** Buckets for the duration of one call, in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The metrics counted by threads. */
export const catalogue = {
  ...httpMetrics,
  storeCalls: {
    name: 'iostlens_store_calls_total',
    help: 'Reads and writes of the store, by outcome.',
    type: 'counter',
    dimensions: [storeCall, label('outcome', ['ok', 'failed', 'cancelled'])],
  },
  storeSeconds: {
    name: 'iostlens_store_call_duration_seconds',
    help: 'Duration of a read or write of the store.',
    type: 'histogram',
    dimensions: [storeCall],
    buckets: SECONDS,
  },
  storeRetries: {
    name: 'iostlens_store_retries_total',
    help: 'Reads restarted because the published height changed, and writes sent again.',
    type: 'counter',
    dimensions: [label('call', ['read', 'write'])],
  },
  nodeCalls: {
    name: 'iostlens_node_calls_total',
    help: 'Requests to nodes, by outcome.',
    type: 'counter',
    dimensions: [
      nodeCall,
      label('outcome', [
        'ok',
        'refused',
        'trouble',
        'timeout',
        'connection',
        'too_large',
        'no_room',
        'cancelled',
      ]),
    ],
  },
  nodeSeconds: {
    name: 'iostlens_node_call_duration_seconds',
    help: 'Duration of a request to a node.',
    type: 'histogram',
    dimensions: [nodeCall],
    buckets: SECONDS,
  },
  nodeRetries: {
    name: 'iostlens_node_retries_total',
    help: 'Requests to nodes that were made because an earlier one had failed or was slow.',
    type: 'counter',
    dimensions: [nodeCall],
  },
  nodeBytes: {
    name: 'iostlens_node_received_bytes_total',
    help: 'Bytes of the answers of nodes.',
    type: 'counter',
    dimensions: [nodeCall],
  },
  loadedBlocks: {
    name: 'iostlens_load_blocks_total',
    help: 'Blocks that were loaded and published.',
    type: 'counter',
    dimensions: [],
  },
  loadedRows: {
    name: 'iostlens_load_rows_total',
    help: 'History that was loaded and published: transactions, and records of accounts, contracts and tokens.',
    type: 'counter',
    dimensions: [label('kind', ['transaction', 'record'])],
  },
  loadedBatches: {
    name: 'iostlens_load_batches_total',
    help: 'Batches that were committed.',
    type: 'counter',
    dimensions: [],
  },
  loadSeconds: {
    name: 'iostlens_load_stage_seconds_total',
    help: 'Time that the load has spent in each stage, or waited for it. Stages overlap; derive includes reading state.',
    type: 'counter',
    dimensions: [label('stage', STAGES)],
  },
  loadFailures: {
    name: 'iostlens_load_failures_total',
    help: 'Failures of the load after which it restarted or ended.',
    type: 'counter',
    dimensions: [],
  },
  eventLoop: {
    name: 'iostlens_event_loop_delay_seconds',
    help: 'The longest wait for a turn of the event loop in each second of a thread.',
    type: 'histogram',
    dimensions: [],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    perThread: true,
  },
  threadDeaths: {
    name: 'iostlens_thread_deaths_total',
    help: 'Threads that died and were replaced.',
    type: 'counter',
    dimensions: [],
  },
  cacheReads: {
    name: 'iostlens_cache_reads_total',
    help: 'Cache lookups, by hit or miss.',
    type: 'counter',
    dimensions: [label('cache', ['state']), label('result', ['hit', 'miss'])],
  },
  droppedLines: {
    name: 'iostlens_log_lines_dropped_total',
    help: 'Lines of the log that were dropped because they were read too slowly.',
    type: 'counter',
    dimensions: [],
  },
} as const satisfies Record<string, Definition>

export type Counts = Counting<keyof typeof catalogue>
