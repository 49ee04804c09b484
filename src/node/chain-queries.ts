import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { Failure } from '#failure/failure.ts'
import { backoffMs } from '#time/backoff.ts'
import { BARE_BLOCK_SIZE, CHAIN_INFO_SIZE } from './answer-size.ts'
import { type CallContext, callNode, callOnce, type NodeRequest, noNodeAnswered, RefusedCall } from './call.ts'
import type { ChainInfo } from './chain-info.ts'
import { abortedByCaller } from './http.ts'
import { BACKOFF, type Member, type NodePool } from './pool.ts'
import type { ReportedHash } from './port.ts'

export const CHAIN_INFO: NodeRequest<ChainInfo> = {
  what: 'getChainInfo',
  path: '/getChainInfo',
  size: CHAIN_INFO_SIZE,
  decode: decodeChainInfo,
}

/** A block without its transactions. */
export const buildHeadRequest = (height: number, what = 'head'): NodeRequest<BlockAnswer> => ({
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
export async function highest(context: CallContext): Promise<ChainInfo> {
  const { pool, clock, signal } = context
  // The probes know the highest node. Only that node is asked, so a node that hangs delays nothing.
  if (pool.watched) return callNode(context, CHAIN_INFO)
  const details = new Map<string, string>()
  for (let round = 1; ; round += 1) {
    const best = await highestNow(context, details)
    if (best !== undefined) return best
    const failure = noNodeAnswered(pool, CHAIN_INFO.what, details)
    if (!failure.retryable || round * pool.members.length >= context.tries) throw failure
    await clock.sleep(backoffMs(BACKOFF, round, clock.random()), signal)
    if (signal.aborted) throw abortedByCaller(signal)
  }
}

/** One round over all nodes; `details` receives the errors of the other nodes, by name. */
async function highestNow(context: CallContext, details: Map<string, string>): Promise<ChainInfo | undefined> {
  const { pool } = context
  const members = availableMembers(pool, context.clock.elapsed())
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
    else best = higher(best, result.value)
  }
  return best
}

/** The nodes that do not rest; all of them if all rest. */
function availableMembers({ members }: NodePool, now: number): readonly Member[] {
  const found = members.filter(({ backoffUntil }) => backoffUntil <= now)
  return found.length > 0 ? found : members
}

function higher(a: ChainInfo | undefined, b: ChainInfo): ChainInfo {
  if (a === undefined || b.libBlock > a.libBlock) return b
  return b.libBlock === a.libBlock && b.headTime > a.headTime ? b : a
}

/** Time limit in milliseconds. A slower node's answer is dropped, because a batch waits for the result. */
const TIMEOUT_MS = 2_000

/** Hash of an irreversible block; undefined when the node has none at that height. */
export async function irreversibleHash(context: CallContext, height: number): Promise<string | undefined> {
  try {
    return getFinalHash(await callNode(context, buildHeadRequest(height, 'hash')))
  } catch (error) {
    if (error instanceof RefusedCall && error.reason === 'block not found') return undefined
    throw error
  }
}

/** The hash by each node of our chain that is neither silent nor at rest; [] for a single one. */
export async function fetchReportedHashes(context: CallContext, height: number): Promise<readonly ReportedHash[]> {
  const now = context.clock.elapsed()
  const members = context.pool.members.filter(
    ({ foreign, silent, backoffUntil }) => foreign === undefined && silent === undefined && backoffUntil <= now,
  )
  if (members.length < 2) return []
  const { limits } = context
  const shortly = { ...context, limits: { ...limits, timeoutMs: Math.min(limits.timeoutMs, TIMEOUT_MS) } }
  const reports = await Promise.all(
    members.map(async member => {
      const result = await callOnce(shortly, member, buildHeadRequest(height, 'hash'))
      const hash = result.tag === 'done' ? getFinalHash(result.value) : undefined
      return hash === undefined ? [] : [{ node: member.endpoint.name, hash }]
    }),
  )
  return reports.flat()
}
