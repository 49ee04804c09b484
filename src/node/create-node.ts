import { decodeChainInfo, decodeContract, decodeStorage } from '#chain/decode.ts'
import type { ProofLevel } from '#chain/proof.ts'
import { systemContractsIn } from '#chain/system-contracts.ts'
import { Failure } from '#failure/failure.ts'
import { backoffMs } from '#time/backoff.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { joinSignals } from '#time/signals.ts'
import { hashesOf, irreversibleHash } from './block-hash.ts'
import { blockStream } from './block-stream.ts'
import { createBudget } from './budget.ts'
import { type Asking, ask, nobodyAnswers, tryOnce } from './call.ts'
import { endpointOf } from './endpoint.ts'
import type { BlockEvent, Fetching } from './fetching.ts'
import { endedByCaller } from './http.ts'
import { passOn } from './pass-on.ts'
import { createPool, type Member, type Pool } from './pool.ts'
import { type ChainInfo, type Node, type NodeEvent, STORAGE_PAGE } from './port.ts'
import { watchNodes } from './probe.ts'
import { createRangeSize } from './range-size.ts'
import { REST } from './rest.ts'

export type NodeOptions = {
  /** Nodes of one chain, at least one: `http(s)://[user:password@]host[:port][/path]`. */
  readonly urls: readonly string[]
  /** For one answer; default 10 s. */
  readonly timeoutMs?: number
  /** Of one answer; default 32 MiB: a block's 8 million gas fill a few MiB of JSON at most. */
  readonly maxBytes?: number
  /** For one request that is passed on (`get`), over all nodes; default 4 s. */
  readonly requestMs?: number
  /** Of one answer that is passed on; default 8 MiB. */
  readonly maxRequestBytes?: number
  /** Of all answers that are passed on at once, above a quarter of a MiB each; default 64 MiB. */
  readonly maxHeldBytes?: number
  /** Told what changes about the nodes that are watched. */
  readonly onEvent?: (event: NodeEvent) => void
  /** Ranges of blocks asked for at the same time; default 4. */
  readonly inFlight?: number
  /** How far blocks are proved, at least; default `signed`. */
  readonly prove?: ProofLevel
  /** How often a question is asked before it is given up; default 5, at least twice per node. */
  readonly tries?: number
  /** Told what is unusual about blocks that are fetched. */
  readonly onBlockEvent?: (event: BlockEvent) => void
  readonly clock?: Clock
}

/** Size of bulk answers that is aimed at: large enough that the request's own cost is nothing, small enough to hold many decoded. */
const TARGET_BYTES = 1024 * 1024

/** Nodes over HTTP RPC as one (`port.ts`). Throws Failure 'usage' for URLs that are none. Asks nothing yet. */
export const createNode = ({
  urls,
  timeoutMs = 10_000,
  prove = 'signed',
  onBlockEvent = () => undefined,
  maxBytes = 32 * 1024 * 1024,
  requestMs = 4_000,
  maxRequestBytes = 8 * 1024 * 1024,
  maxHeldBytes = 64 * 1024 * 1024,
  onEvent = () => undefined,
  inFlight = 4,
  tries = 5,
  clock = systemClock,
}: NodeOptions): Node => {
  const endpoints = urls.map(endpointOf)
  if (endpoints.length === 0) throw new Failure('usage', 'No node URL is set.')
  const pool = createPool(endpoints, clock)
  const asking: Asking = {
    pool,
    clock,
    limits: { timeoutMs, maxBytes },
    tries: Math.max(tries, 2 * endpoints.length),
  }
  const closed = new AbortController()
  /** Work that ends with the caller's signal or the node's end. */
  const until = async <T>(
    signal: AbortSignal | undefined,
    work: (ends: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const ends = joinSignals(signal, closed.signal)
    try {
      return await work(ends.signal)
    } finally {
      ends.release()
    }
  }
  const budget = createBudget(maxHeldBytes)
  const fetching = fetchingOf(asking, { prove, tell: onBlockEvent, bytes: Math.min(TARGET_BYTES, maxBytes) })
  const contractCode: Node['contractCode'] = (id, signal) =>
    until(signal, ends =>
      ask(
        asking,
        {
          what: `contract ${id}`,
          path: `/getContract/${encodeURIComponent(id)}/false`,
          decode: decodeContract,
        },
        ends,
      ),
    )
  return {
    name: endpoints.map(({ name }) => name).join(', '),
    chainInfo: signal => until(signal, ends => highest(asking, ends)),
    blocks: async function* ({ signal, following = false, ...range }) {
      const ends = joinSignals(signal, closed.signal)
      try {
        const options = { ...range, signal: ends.signal, inFlight }
        for await (const { block, proof } of blockStream(fetching(following), options)) {
          const systemCode = []
          for (const id of systemContractsIn(block)) systemCode.push(await contractCode(id, ends.signal))
          yield { block, systemCode, proof }
        }
      } finally {
        ends.release()
      }
    },
    blockHash: (height, signal) => until(signal, ends => irreversibleHash(asking, height, ends)),
    hashes: (height, signal) => until(signal, ends => hashesOf(asking, height, ends)),
    contractCode,
    storage: ({ contract, type, prefix, from }, signal) =>
      until(signal, ends =>
        ask(
          asking,
          {
            what: `storage of ${contract}`,
            path: '/listContractStorage',
            body: storageQuestion(contract, type, prefix, from),
            decode: decodeStorage,
          },
          ends,
        ),
      ),
    get: (path, { signal, withinMs = requestMs } = {}) =>
      until(signal, async ends => {
        const limits = { timeoutMs: withinMs, maxBytes: maxRequestBytes }
        const { answer, member, hold } = await passOn(asking, { path, limits, signal: ends, budget })
        return { ...answer, upToDate: isUpToDate(pool, member), release: hold.release }
      }),
    watch: (expected, stored = async () => undefined) =>
      watchNodes(asking, { expected, stored, onEvent, signal: closed.signal }),
    heard: () => pool.ready().find(({ heard }) => isFresh(heard, clock.elapsed()))?.heard?.info,
    close: () => closed.abort('closed'),
  }
}

/** What was heard so long ago counts for nothing: several looks have failed to come to an end since. */
const FRESH_MS = 10_000

const isFresh = (heard: Member['heard'], now: number): boolean =>
  heard !== undefined && now - heard.at <= FRESH_MS

/** Whether no other node is known to have seen more of the chain than this one. */
const isUpToDate = (pool: Pool, { heard }: Member): boolean =>
  heard !== undefined && heard.info.headBlock >= pool.highestHead()
/** What blocks are fetched with, by whether it is to follow the chain. */
const fetchingOf = (
  asking: Asking,
  {
    prove,
    tell,
    bytes,
  }: { readonly prove: ProofLevel; readonly tell: (event: BlockEvent) => void; readonly bytes: number },
): ((following: boolean) => Fetching) => {
  const size = createRangeSize(bytes)
  let told = false
  const tellOnce = (event: BlockEvent): void => {
    if (event.type === 'no_raw' && told) return
    if (event.type === 'no_raw') told = true
    tell(event)
  }
  return following => ({ asking, size, prove, wholeIfGiven: following && prove === 'signed', tell: tellOnce })
}

const storageQuestion = (id: string, storageType: string, prefix: string, from: string | undefined): string =>
  JSON.stringify({ id, storageType, prefix, limit: String(STORAGE_PAGE), by_longest_chain: false, from })

/**
 * Asks all nodes that do not rest where they stand and answers what the highest says. (A node that is stuck says the
 * same again and again: its head time tells.)
 */
const highest = async (asking: Asking, signal: AbortSignal): Promise<ChainInfo> => {
  const { pool, clock } = asking
  const what = 'getChainInfo'
  const question = { what, path: '/getChainInfo', decode: decodeChainInfo }
  // The looks have told who is the highest: that one alone is asked, and nobody waits for one that hangs.
  if (pool.watched) return ask(asking, question, signal)
  const details = new Map<string, string>()
  for (let round = 1; ; round += 1) {
    const now = clock.elapsed()
    const awake = pool.members.filter(({ restUntil }) => restUntil <= now)
    const asked = awake.length > 0 ? awake : pool.members
    const results = await Promise.all(asked.map(member => tryOnce(asking, member, question, signal)))
    let best: ChainInfo | undefined
    // In the order the nodes are given: the first that answers says which chain it is.
    for (const [index, result] of results.entries()) {
      const member = asked[index]
      if (member === undefined) continue
      if (result.tag !== 'done') {
        details.set(member.endpoint.name, result.tag === 'again' ? result.detail : result.failure.message)
        pool.failed(member, result.tag === 'again' ? result.restMs : undefined)
      } else if (!pool.stands(member, result.value))
        details.set(member.endpoint.name, `it serves another chain: ${member.foreign}`)
      else best = higher(best, result.value)
    }
    if (best !== undefined) return best
    if (round * pool.members.length >= asking.tries) throw nobodyAnswers(pool, what, details)
    await clock.sleep(backoffMs(REST, round, clock.random()), signal)
    if (signal.aborted) throw endedByCaller(signal)
  }
}

const higher = (a: ChainInfo | undefined, b: ChainInfo): ChainInfo => {
  if (a === undefined || b.libBlock > a.libBlock) return b
  return b.libBlock === a.libBlock && b.headTime > a.headTime ? b : a
}
