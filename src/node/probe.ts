import type { Block } from '#chain/block.ts'
import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { highestPossible } from '#chain/time.ts'
import { Failure, getErrorMessage } from '#failure/failure.ts'
import { awaitLimited } from '#time/deadline.ts'
import { backoffMs } from '#time/retry.ts'
import {
  BARE_BLOCK_SIZE,
  type CallContext,
  CHAIN_INFO_SIZE,
  callNode,
  callOnce,
  type NodeRequest,
  noNodeAnswered,
  RefusedCall,
} from './call.ts'
import { abortedByCaller } from './http.ts'
import { BACKOFF, judgeNode, type Member, type NodePool, type StoredChain, unfitText, type Verdict } from './pool.ts'
import type { ChainIdentity, ChainInfo, NodeEvent, ReportedHash, StoredBlocks } from './port.ts'

const CHAIN_INFO: NodeRequest<ChainInfo> = {
  what: 'getChainInfo',
  path: '/getChainInfo',
  size: CHAIN_INFO_SIZE,
  decode: decodeChainInfo,
}

/** A block without its transactions. */
const buildHeadRequest = (height: number, what = 'head'): NodeRequest<BlockAnswer> => ({
  what: `${what} of block ${height}`,
  path: `/getBlockByNumber/${height}/false`,
  size: BARE_BLOCK_SIZE,
  mayBeAbsent: true,
  decode: text => {
    const answer = decodeBlockAnswer(text)
    if (answer.block.height !== height)
      throw new Failure('bad_block', `The node returned block ${answer.block.height} for block ${height}.`)
    return answer
  },
})

type BlockAnswer = ReturnType<typeof decodeBlockAnswer>

/** The hash of an irreversible block; undefined: the node has the block, but not as an irreversible one. */
const getFinalHash = ({ status, block }: BlockAnswer): string | undefined =>
  status === 'IRREVERSIBLE' ? block.hash : undefined

/**
 * Asks all nodes that are not resting for their chain info and returns the highest. At equal heights the
 * later head time wins, since a stuck node repeats the same one.
 */
export async function fetchHighest(context: CallContext): Promise<ChainInfo> {
  const { pool, clock, signal } = context
  // The probes know the highest node. Only that node is asked, so a node that hangs delays nothing.
  if (pool.watched) return callNode(context, CHAIN_INFO)
  const details = new Map<string, string>()
  for (let round = 1; ; round += 1) {
    const best = await fetchHighestOnce(context, details)
    if (best !== undefined) return best
    const failure = noNodeAnswered(pool, CHAIN_INFO.what, details)
    if (!failure.retryable || round * pool.members.length >= context.tries) throw failure
    await clock.sleep(backoffMs(BACKOFF, round, clock.random()), signal)
    if (signal.aborted) throw abortedByCaller(signal)
  }
}

/** One round over all nodes; `details` receives the errors of the other nodes, by name. */
async function fetchHighestOnce(context: CallContext, details: Map<string, string>): Promise<ChainInfo | undefined> {
  const { pool } = context
  const now = context.clock.elapsed()
  // All of them if all rest.
  const awake = pool.members.filter(({ backoffUntil }) => backoffUntil <= now)
  const members = awake.length > 0 ? awake : pool.members
  const results = await Promise.all(
    members.map(async member => ({ member, result: await callOnce(context, member, CHAIN_INFO) })),
  )
  let best: ChainInfo | undefined
  // In the given order of nodes: the first one that answers determines the chain.
  for (const { member, result } of results) {
    if (result.tag !== 'done') {
      details.set(member.endpoint.name, result.detail)
      pool.noteFailure(member, result.pauseMs)
    } else if (!pool.noteInfo(member, result.value))
      details.set(member.endpoint.name, `it serves another chain: ${member.foreign}`)
    else best = selectHigher(best, result.value)
  }
  return best
}

function selectHigher(a: ChainInfo | undefined, b: ChainInfo): ChainInfo {
  if (a === undefined || b.libBlock > a.libBlock) return b
  return b.libBlock === a.libBlock && b.headTime > a.headTime ? b : a
}

/** Hash of an irreversible block; undefined when the node has none at that height. */
export async function irreversibleHash(context: CallContext, height: number): Promise<string | undefined> {
  try {
    return getFinalHash(await callNode(context, buildHeadRequest(height, 'hash')))
  } catch (error) {
    if (error instanceof RefusedCall && error.reason === 'block not found') return undefined
    throw error
  }
}

/** Time limit in milliseconds. A slower node's answer is dropped, because a batch waits for the result. */
const HASHES_TIMEOUT_MS = 2_000

/** The hash by each node of our chain that is neither silent nor at rest; [] for a single one. */
export async function fetchReportedHashes(context: CallContext, height: number): Promise<readonly ReportedHash[]> {
  const now = context.clock.elapsed()
  const members = context.pool.members.filter(
    ({ foreign, silent, backoffUntil }) => foreign === undefined && silent === undefined && backoffUntil <= now,
  )
  if (members.length < 2) return []
  const { limits } = context
  const shortly = { ...context, limits: { ...limits, timeoutMs: Math.min(limits.timeoutMs, HASHES_TIMEOUT_MS) } }
  const reports = await Promise.all(
    members.map(async member => {
      const result = await callOnce(shortly, member, buildHeadRequest(height, 'hash'))
      const hash = result.tag === 'done' ? getFinalHash(result.value) : undefined
      return hash === undefined ? [] : [{ node: member.endpoint.name, hash }]
    }),
  )
  return reports.flat()
}

/** The result of a probe. `doubted`: the node's report cannot be true at this moment and is not accepted. */
type ProbeResult =
  | { readonly info: ChainInfo; readonly genesis: string; readonly verdict: Verdict | undefined }
  | { readonly silent: string; readonly doubted?: true }

const firstBlock: NodeRequest<Block> = {
  what: 'block 0',
  path: '/getBlockByNumber/0/false',
  size: BARE_BLOCK_SIZE,
  decode: text => decodeBlockAnswer(text).block,
}

/** Checks a node. `most` is the greatest possible height; without `chain`, nothing is stored. */
async function probeNode(
  context: CallContext,
  member: Member,
  { most, chain }: { readonly most: number; readonly chain: StoredChain | undefined },
): Promise<ProbeResult> {
  const info = await askMember(context, member, CHAIN_INFO)
  if (typeof info === 'string') return { silent: info }
  const named = Math.max(info.libBlock, info.headBlock)
  // A node that invents a height can invent the block too; only the age of the chain disproves it.
  const doubt =
    named > most
      ? `it reports block ${named}, which is too high for the age of the chain: it has ${most} blocks at most`
      : await findDoubt(context, member, info)
  if (doubt !== undefined) return { silent: doubt, doubted: true }
  const first = member.genesis === undefined ? await askMember(context, member, firstBlock) : { hash: member.genesis }
  // Without its first block, the node's chain is unknown.
  if (typeof first === 'string') return { silent: first }
  const genesis = first.hash
  /** undefined also when the node does not answer. */
  const blockHash = async (height: number): Promise<string | undefined> => {
    if (height === 0) return genesis
    const answer = await askMember(context, member, buildHeadRequest(height))
    return typeof answer === 'string' ? undefined : getFinalHash(answer)
  }
  return { info, genesis, verdict: chain && (await judgeNode({ ...info, blockHash }, chain)) }
}

/** Time limit of a probe, in milliseconds. A slower node is too slow for requests. */
const PROBE_TIMEOUT_MS = 1_500

/** Advance in blocks since the last report, or of a head over its last irreversible block, that is not doubted. */
const FAR = 1_000

/**
 * The reason to doubt a node's report; undefined: there is none. A number alone may be nonsense, so a height
 * far from the known one is accepted only when the node returns that very block.
 */
async function findDoubt(
  context: CallContext,
  member: Member,
  { libBlock: lib, headBlock: head }: ChainInfo,
): Promise<string | undefined> {
  const known = member.report?.info
  if (lib > head) return `it reports block ${lib} as irreversible, which is above its head block ${head}`
  for (const [height, what, before] of [
    [lib, 'last irreversible block', known?.libBlock ?? -1],
    [head, 'head', Math.max(lib, known?.headBlock ?? -1)],
  ] as const) {
    if (height <= before + FAR) continue
    const answer = await askMember(context, member, buildHeadRequest(height))
    if (typeof answer === 'string')
      return `it reports block ${height} as its ${what}, but does not return it: ${answer}`
    if (what !== 'head' && answer.status !== 'IRREVERSIBLE')
      return `it reports block ${height} as its ${what}, but returns it as ${answer.status}`
  }
  return undefined
}

/** The node's answer, or as text the reason why there is none that can be used. */
async function askMember<T extends object>(
  context: CallContext,
  member: Member,
  question: NodeRequest<T>,
): Promise<T | string> {
  const limits = { ...context.limits, timeoutMs: Math.min(context.limits.timeoutMs, PROBE_TIMEOUT_MS) }
  const result = await callOnce({ ...context, limits }, member, question)
  return result.tag === 'done' ? result.value : result.detail
}

/**
 * Reads a node's current height between the regular probes. Callers that wait for the same node share a request. A
 * caller that comes during a request, and learns too little from it, shares the next one. Never throws: the known state
 * stays if the node does not answer, or reports a change that only a probe may accept.
 */
type RefreshHeight = (member: Member, isEnough: () => boolean) => Promise<void>

export function heightRefresher(context: CallContext): RefreshHeight {
  const underWay = new Map<Member, Promise<void>>()
  const begin = (member: Member): Promise<void> => {
    const refresh = refreshOnce(context, member).finally(() => underWay.delete(member))
    underWay.set(member, refresh)
    return refresh
  }
  return async (member, isEnough) => {
    const begun = underWay.get(member)
    await begun
    if (begun !== undefined && isEnough()) return
    await (underWay.get(member) ?? begin(member))
  }
}

async function refreshOnce(context: CallContext, member: Member): Promise<void> {
  // The request rejects when the node is closed; nothing can be learned then.
  const info = await askMember(context, member, CHAIN_INFO).catch(() => 'closed')
  const known = member.report?.info
  if (typeof info === 'string' || known === undefined || info.chainId !== known.chainId) return
  const { libBlock: lib, headBlock: head } = info
  const isNear = lib <= head && Math.abs(head - known.headBlock) <= FAR && Math.abs(lib - known.libBlock) <= FAR
  if (isNear) context.pool.noteInfo(member, info)
}

/** Interval between probes in milliseconds, the time of two blocks: a report is hardly older than a block. */
const EVERY_MS = 1_000

type Watching = {
  /** The stored chain; undefined: nothing is stored yet. */
  readonly expected: () => Promise<ChainIdentity | undefined>
  readonly stored: StoredBlocks
  readonly onEvent: (event: NodeEvent) => void
}

/**
 * Probes every node regularly and separately, with one request in flight, so that a node that hangs delays no
 * other. Resolves after the first probe of all nodes; probing continues until the signal of `context` aborts.
 */
export async function watchNodes(context: CallContext, watching: Watching): Promise<void> {
  const { pool, clock, signal } = context
  const { expected, stored } = watching
  pool.watched = true
  let identity: ChainIdentity | undefined
  const learn = async (): Promise<void> => {
    if (identity !== undefined) return
    // A store that is out of reach now is read again at the next probe.
    const chain = await expected().catch(() => undefined)
    if (chain === undefined) return
    pool.expect(chain)
    identity = chain
  }
  let last: Awaited<ReturnType<StoredBlocks['last']>>
  let pending: Promise<void> | undefined
  /** An older block serves as well, so a slow store delays no probe. */
  const learnLast = (): Promise<void> => {
    pending ??= stored
      .last()
      .then(
        block => {
          last = block ?? last
          if (last !== undefined) pool.storedHeight = last.height
        },
        () => undefined,
      )
      .finally(() => {
        pending = undefined
      })
    return pending
  }
  /** A store that is slow or out of reach proves nothing about a block. */
  const hashAt = (height: number): Promise<string | undefined> =>
    awaitLimited(stored.hashAt(height), { ms: PROBE_TIMEOUT_MS, clock }).catch(() => undefined)
  const chainNow = (): StoredChain | undefined =>
    identity === undefined || last === undefined ? undefined : { identity, last, hashAt }
  const probe = (member: Member): Promise<TimedProbe> => {
    const most = last === undefined ? Number.POSITIVE_INFINITY : highestPossible(last, clock.now())
    return timedProbe(context, member, { most, chain: chainNow() })
  }
  const noteProbe = (member: Member, probe: TimedProbe): void => {
    if (!signal.aborted) note(pool, { member, probe }, watching.onEvent)
  }
  const goOn = async (member: Member): Promise<void> => {
    for (;;) {
      await clock.sleep(EVERY_MS, signal)
      if (signal.aborted) return
      void learnLast()
      await learn()
      noteProbe(member, await probe(member))
    }
  }
  await Promise.all([learn(), learnLast()])
  const probes = await Promise.all(pool.members.map(async member => ({ member, probe: await probe(member) })))
  // In the given order of nodes: the first one that answers determines the chain.
  for (const { member, probe } of probes) noteProbe(member, probe)
  for (const member of pool.members) void goOn(member)
}

type TimedProbe = ProbeResult & { readonly ms: number }

/** A probe that fails does not end the probing. */
async function timedProbe(
  context: CallContext,
  member: Member,
  known: Parameters<typeof probeNode>[2],
): Promise<TimedProbe> {
  const started = context.clock.elapsed()
  const found = await probeNode(context, member, known).catch((error: unknown) => ({ silent: getErrorMessage(error) }))
  return { ...found, ms: context.clock.elapsed() - started }
}

/** Records the result of a probe and reports the changes of the node's state. */
function note(
  pool: NodePool,
  { member, probe }: { readonly member: Member; readonly probe: TimedProbe },
  onEvent: Watching['onEvent'],
): void {
  const { silent, foreign, apart, report } = member
  const tell = (type: NodeEvent['type'], detail: string): void => onEvent({ type, node: member.endpoint.name, detail })
  if ('silent' in probe) {
    // The last accepted report counts until it is too old; then the node's height is unknown.
    if (probe.doubted === true && report !== undefined) return
    // A different node may appear at this address.
    Object.assign(member, { silent: probe.silent, report: undefined, genesis: undefined, apart: undefined })
    if (silent === undefined) tell('silent', probe.silent)
    return
  }
  member.silent = undefined
  member.genesis = probe.genesis
  member.probeMs = probe.ms
  if (isOnOtherBranch(member, probe)) {
    if (apart === undefined) tell('apart', unfitText(member.apart, 'it'))
    return
  }
  if (!pool.noteInfo(member, probe.info)) {
    if (foreign !== member.foreign) tell('foreign', member.foreign ?? '')
    return
  }
  if (report === undefined) tell('heard', `block ${probe.info.libBlock}`)
}

/** Records whether a node is on another branch than ours; its reported heights then do not apply to it. */
function isOnOtherBranch(
  member: Member,
  { verdict }: Exclude<TimedProbe, { readonly silent: string }>,
): member is Member & { apart: NonNullable<Member['apart']> } {
  // A node that does not return the block is judged once it does.
  if (verdict?.is !== 'lacks') member.apart = verdict?.is === 'apart' ? verdict : undefined
  if (member.apart === undefined) return false
  member.report = undefined
  member.foreign = undefined
  return true
}
