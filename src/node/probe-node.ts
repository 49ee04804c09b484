import type { Block } from '#chain/block.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { BARE_BLOCK_SIZE } from './answer-size.ts'
import { type CallContext, callOnce, type NodeRequest } from './call.ts'
import type { ChainInfo } from './chain-info.ts'
import { buildHeadRequest, CHAIN_INFO } from './chain-queries.ts'
import { judge, type StoredChain, type Verdict } from './judge.ts'
import type { Member } from './pool.ts'

/** The result of a probe. `doubted`: the node's report cannot be true at this moment and is not accepted. */
export type ProbeResult =
  | { readonly info: ChainInfo; readonly genesis: string; readonly verdict: Verdict | undefined }
  | { readonly silent: string; readonly doubted?: true }

const firstBlock: NodeRequest<Block> = {
  what: 'block 0',
  path: '/getBlockByNumber/0/false',
  size: BARE_BLOCK_SIZE,
  decode: text => decodeBlockAnswer(text).block,
}

/** Facts to check a node against: `most` is the greatest possible height; without `chain`, nothing is stored. */
export type ProbeChecks = { readonly most: number; readonly chain: StoredChain | undefined }

export async function probeNode(
  context: CallContext,
  member: Member,
  { most, chain }: ProbeChecks,
): Promise<ProbeResult> {
  const info = await probeInfo(context, member)
  if (typeof info === 'string') return { silent: info }
  const doubt = tooHigh(info, most) ?? (await findDoubt(context, member, info))
  if (doubt !== undefined) return { silent: doubt, doubted: true }
  const genesis = await probeGenesis(context, member)
  // Without its first block, the node's chain is unknown.
  if ('silent' in genesis) return genesis
  const verdict =
    chain === undefined
      ? undefined
      : await judge(
          { ...info, blockHash: height => hashThere(context, member, { height, genesis: genesis.hash }) },
          chain,
        )
  return { info, genesis: genesis.hash, verdict }
}

async function probeGenesis(
  context: CallContext,
  member: Member,
): Promise<{ readonly hash: string } | { readonly silent: string }> {
  if (member.genesis !== undefined) return { hash: member.genesis }
  const block = await askMember(context, member, firstBlock)
  return typeof block === 'string' ? { silent: block } : block
}

/** The hash of a node's irreversible block, for `judge`; undefined also when the node does not answer. */
async function hashThere(
  context: CallContext,
  member: Member,
  { height, genesis }: { readonly height: number; readonly genesis: string },
): Promise<string | undefined> {
  if (height === 0) return genesis
  const answer = await askMember(context, member, buildHeadRequest(height))
  return typeof answer !== 'string' && answer.status === 'IRREVERSIBLE' ? answer.block.hash : undefined
}

/** A node that invents a height can invent the block too; only the age of the chain disproves it. */
function tooHigh({ libBlock, headBlock }: ChainInfo, most: number): string | undefined {
  const named = Math.max(libBlock, headBlock)
  return named > most
    ? `it reports block ${named}, which is too high for the age of the chain: it has ${most} blocks at most`
    : undefined
}

/** Time limit of a probe, in milliseconds. A slower node is too slow for requests. */
export const PROBE_TIMEOUT_MS = 1_500

/** The chain info of a node, or as text the reason why there is none that can be used. */
const probeInfo = (context: CallContext, member: Member): Promise<ChainInfo | string> =>
  askMember(context, member, CHAIN_INFO)

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
export type RefreshHeight = (member: Member, isEnough: () => boolean) => Promise<void>

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
  const info = await probeInfo(context, member).catch(() => 'closed')
  const known = member.report?.info
  if (typeof info === 'string' || known === undefined || info.chainId !== known.chainId) return
  const { libBlock: lib, headBlock: head } = info
  const isNear = lib <= head && Math.abs(head - known.headBlock) <= FAR && Math.abs(lib - known.libBlock) <= FAR
  if (isNear) context.pool.noteInfo(member, info)
}
