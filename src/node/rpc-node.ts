import { type ContractCode, type LoadedBlock, type ProofLevel, USUAL_LEVEL } from '#chain/block.ts'
import { decodeContract, decodeStorage } from '#chain/decode.ts'
import { listUnknownContracts } from '#chain/effects.ts'
import { decodeRawHeads } from '#chain/head.ts'
import { isSystemContract } from '#chain/names.ts'
import { Failure } from '#failure/failure.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { joinSignals } from '#time/deadline.ts'
import { blockStream, type StreamOptions } from './block-stream.ts'
import { openProvers, type Provers, type ProvingThreads } from './bulk.ts'
import {
  BLOCK_SIZE,
  type CallContext,
  CONTRACT_SIZE,
  callNode,
  forward,
  type NodeRequest,
  RefusedCall,
} from './call.ts'
import { createBudget, type Endpoint } from './http.ts'
import { createNodePool, findUnfit, usableMembers } from './pool.ts'
import {
  type Node,
  type NodeEvent,
  STORAGE_PAGE,
  type StoragePage,
  type StorageRange,
  type StoredBlocks,
} from './port.ts'
import { fetchHighest, fetchReportedHashes, heightRefresher, irreversibleHash, watchNodes } from './probe.ts'
import { type BlockEvent, createRangeSize, type FetchContext, headsQuestion, type Proven } from './prove-blocks.ts'

export type RpcNodeOptions = {
  /** Nodes of one chain, at least one. */
  readonly endpoints: readonly Endpoint[]
  /** Time limit of one answer; default 10 s. */
  readonly timeoutMs?: number
  /** Size limit of one answer; calls with smaller answers have smaller limits (`call.ts`). Default 32 MiB. */
  readonly maxBytes?: number
  /** Time limit of each node's answer to a request that is passed on (`get`); default 4 s. */
  readonly requestMs?: number
  /** Size limit of one answer that is passed on; default 8 MiB. */
  readonly maxRequestBytes?: number
  /** Memory for all answers that are passed on at once, above a quarter of a MiB each; default 64 MiB. */
  readonly maxHeldBytes?: number
  /** Called with each change of a watched node. */
  readonly onEvent?: (event: NodeEvent) => void
  /** Ranges of blocks requested from one node at the same time; default 4. */
  readonly inFlight?: number
  /** Minimum proof level of blocks; default `signed`. */
  readonly prove?: ProofLevel
  /** The last block of the range that starts at `from`; absent: as many blocks as the size of answers allows. */
  readonly rangeEnd?: StreamOptions['rangeEnd']
  /** Threads that prove long ranges; absent: this thread proves all. */
  readonly threads?: ProvingThreads
  /** Maximum number of tries per question; default 5, at least two per node. */
  readonly tries?: number
  /** Called with unusual events of fetching blocks. */
  readonly onBlockEvent?: (event: BlockEvent) => void
  /** Called when a request to a node ends. */
  readonly onCall?: CallContext['onCall']
  readonly clock?: Clock
}

const DEFAULTS = {
  timeoutMs: 10_000,
  prove: USUAL_LEVEL,
  onBlockEvent: (_event: BlockEvent): void => undefined,
  maxBytes: BLOCK_SIZE.bytes,
  requestMs: 4_000,
  maxRequestBytes: 8 * 1024 * 1024,
  maxHeldBytes: 64 * 1024 * 1024,
  onEvent: (_event: NodeEvent): void => undefined,
  inFlight: 4,
  tries: 5,
  clock: systemClock,
} as const

/** Combines nodes with an RPC into one (`port.ts`). Sends no request yet. */
export function rpcNode(options: RpcNodeOptions): Node {
  const { endpoints, onCall, threads, prove, ...others } = { ...DEFAULTS, ...options }
  const { onBlockEvent, onEvent, clock, inFlight, tries, ...limits } = others
  const { timeoutMs, maxBytes, requestMs, maxRequestBytes, maxHeldBytes, rangeEnd } = limits
  if (endpoints.length === 0) throw new Failure('usage', 'No node URL is set.')
  const pool = createNodePool(endpoints, clock)
  const closed = new AbortController()
  const context: CallContext = {
    pool,
    clock,
    limits: { timeoutMs, maxBytes },
    tries: Math.max(tries, 2 * endpoints.length),
    signal: closed.signal,
    onCall,
  }
  const until = <T>(signal: AbortSignal | undefined, work: (context: CallContext) => Promise<T>): Promise<T> =>
    runUntilAborted(context, signal, work)
  const budget = createBudget(maxHeldBytes)
  const refreshHeight = heightRefresher(context)
  // Large enough to hide a request's overhead, small enough to hold many decoded answers.
  const size = createRangeSize(Math.min(1024 * 1024, maxBytes))
  const open = (blocks: number): Provers | undefined =>
    threads === undefined || threads.count === 0 || blocks < threads.least
      ? undefined
      : openProvers(threads.open, threads.count, reason => onBlockEvent({ type: 'thread_died', reason }))
  const streaming = { size, onEvent: reportOnce(onBlockEvent), open, inFlight, rangeEnd }
  return {
    name: endpoints.map(({ name }) => name).join(', '),
    chainInfo: signal => until(signal, fetchHighest),
    blocks: range => streamBlocks(context, { ...range, prove: range.prove ?? prove }, streaming),
    blockHash: (height, signal) => until(signal, ends => irreversibleHash(ends, height)),
    hashes: (height, signal) => until(signal, ends => fetchReportedHashes(ends, height)),
    heads: ({ from, to }, signal) =>
      until(signal, ends => callNode(ends, { ...headsQuestion({ from, to }), decode: decodeRawHeads })),
    contractCode: (id, signal) => until(signal, ends => fetchContractCode(ends, id)),
    storage: (range, signal) => until(signal, ends => callNode(ends, storageQuestion(range))),
    get: (path, { signal, withinMs = requestMs, body } = {}) =>
      until(signal, async ends => {
        const request = body === undefined ? { path } : { path, body }
        const limits = { timeoutMs: withinMs, maxBytes: maxRequestBytes }
        const { answer, member, isFirst, hold } = await forward(ends, request, { limits, budget })
        const reaches = (height: number): boolean =>
          member.report !== undefined && member.report.info.headBlock >= Math.max(height, pool.highestHead())
        return {
          ...answer,
          reaches,
          refreshHeight: height => refreshHeight(member, () => reaches(height)),
          isFirst,
          isUsable: () => usableMembers(pool).includes(member),
          release: hold.release,
        }
      }),
    watch: (expected, stored = NOTHING_STORED) => watchNodes(context, { expected, stored, onEvent }),
    lastInfo: () => pool.ready().find(({ report }) => report && clock.elapsed() - report.at <= FRESH_MS)?.report?.info,
    whyUnfit: () => (pool.watched ? findUnfit(pool) : undefined),
    reportAgeMs: () => (pool.reportedAt === undefined ? undefined : clock.elapsed() - pool.reportedAt),
    close: () => closed.abort('closed'),
  }
}

const streamBlocks = async function* (
  context: CallContext,
  { signal, following = false, prove, ...range }: Parameters<Node['blocks']>[0] & { readonly prove: ProofLevel },
  {
    size,
    onEvent,
    open,
    ...also
  }: Pick<StreamOptions, 'inFlight' | 'rangeEnd'> &
    Pick<FetchContext, 'size' | 'onEvent'> & {
      /** undefined: this thread proves all. */
      readonly open: (blocks: number) => Provers | undefined
    },
): AsyncGenerator<LoadedBlock> {
  const ends = joinSignals(signal, context.signal)
  const provers = open(range.to - range.from)
  try {
    const now = { ...context, signal: ends.signal }
    const isWholePreferred = following && prove === 'signed'
    const fetching = { context: now, size, prove, isWholePreferred, onEvent, ...(provers && { provers }) }
    yield* withSystemCode(now, blockStream(fetching, { ...range, ...also }))
  } finally {
    provers?.close()
    ends.release()
  }
}

/** Does work that the caller's signal or the closing of the node aborts. */
async function runUntilAborted<T>(
  context: CallContext,
  signal: AbortSignal | undefined,
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const ends = joinSignals(signal, context.signal)
  try {
    return await work({ ...context, signal: ends.signal })
  } finally {
    ends.release()
  }
}

const NOTHING_STORED: StoredBlocks = { last: async () => undefined, hashAt: async () => undefined }

/** Adds to the blocks the contract code that only nodes have. */
async function* withSystemCode(context: CallContext, blocks: AsyncIterable<Proven>): AsyncGenerator<LoadedBlock> {
  for await (const { block, proof } of blocks) {
    const systemCode: ContractCode[] = []
    for (const id of listUnknownContracts(block)) {
      const code = await fetchContractCode(context, id)
      if (code !== undefined) systemCode.push(code)
    }
    yield { block, systemCode, proof }
  }
}

/** A system contract always exists; another contract may not, though a block names it. */
async function fetchContractCode(context: CallContext, id: string): Promise<ContractCode | undefined> {
  try {
    return await callNode(context, {
      what: `contract ${id}`,
      path: `/getContract/${encodeURIComponent(id)}/false`,
      size: CONTRACT_SIZE,
      decode: text => {
        const code = decodeContract(text)
        if (code.id !== id) throw new Failure('bad_block', `The node returned contract ${code.id} for contract ${id}.`)
        return code
      },
    })
  } catch (error) {
    const isAbsent = error instanceof RefusedCall && error.reason === 'contract not found'
    if (isAbsent && !isSystemContract(id)) return undefined
    throw error
  }
}

const storageQuestion = ({ contract, type, prefix, from }: StorageRange): NodeRequest<StoragePage> => ({
  what: `storage of ${contract}`,
  path: '/listContractStorage',
  size: BLOCK_SIZE,
  body: JSON.stringify({
    id: contract,
    storageType: type,
    prefix,
    limit: String(STORAGE_PAGE),
    by_longest_chain: false,
    from,
  }),
  decode: decodeStorage,
})

/** Maximum age of a report that is used, in milliseconds: several probes have not completed since. */
const FRESH_MS = 10_000

/** Tells only once that a node returns no raw block. */
function reportOnce(report: (event: BlockEvent) => void): (event: BlockEvent) => void {
  let isReported = false
  return event => {
    if (event.type === 'no_raw' && isReported) return
    isReported ||= event.type === 'no_raw'
    report(event)
  }
}
