import type { Block } from '#chain/block.ts'
import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { Failure } from '#failure/failure.ts'
import { type Asking, type Question, tryOnce } from './call.ts'
import type { ChainInfo } from './chain-info.ts'
import { judge, type StoredChain, type Verdict } from './judge.ts'
import type { Member } from './pool.ts'

/** The result of a probe. `doubted`: the node's report cannot be true at this moment and is not accepted. */
export type Said =
  | { readonly info: ChainInfo; readonly genesis: string; readonly verdict: Verdict | undefined }
  | { readonly silent: string; readonly doubted?: true }

const chainInfo: Question<ChainInfo> = {
  what: 'getChainInfo',
  path: '/getChainInfo',
  decode: decodeChainInfo,
}
const firstBlock: Question<Block> = {
  what: 'block 0',
  path: '/getBlockByNumber/0/false',
  decode: text => decodeBlockAnswer(text).block,
}

/** Facts to check a node against: `most` is the greatest possible height; without `chain`, nothing is stored. */
export type Known = { readonly most: number; readonly chain: StoredChain | undefined }

export const lookAt = async (asking: Asking, member: Member, { most, chain }: Known): Promise<Said> => {
  const info = await infoOf(asking, member)
  if (typeof info === 'string') return { silent: info }
  const doubt = tooHigh(info, most) ?? (await doubtOf(asking, member, info))
  if (doubt !== undefined) return { silent: doubt, doubted: true }
  const genesis = await genesisOf(asking, member)
  // Without its first block, the node's chain is unknown.
  if ('silent' in genesis) return genesis
  const verdict =
    chain === undefined
      ? undefined
      : await judge(
          { ...info, blockHash: height => hashThere(asking, member, { height, genesis: genesis.hash }) },
          chain,
        )
  return { info, genesis: genesis.hash, verdict }
}

const genesisOf = async (
  asking: Asking,
  member: Member,
): Promise<{ readonly hash: string } | { readonly silent: string }> => {
  if (member.genesis !== undefined) return { hash: member.genesis }
  const block = await answerOf(asking, member, firstBlock)
  return typeof block === 'string' ? { silent: block } : block
}

/** The hash of a node's irreversible block, for `judge`; undefined also when the node does not answer. */
const hashThere = async (
  asking: Asking,
  member: Member,
  { height, genesis }: { readonly height: number; readonly genesis: string },
): Promise<string | undefined> => {
  if (height === 0) return genesis
  const said = await answerOf(asking, member, headOf(height))
  return typeof said !== 'string' && said.status === 'IRREVERSIBLE' ? said.block.hash : undefined
}

/** A node that invents a height can invent the block too; only the age of the chain disproves it. */
const tooHigh = ({ libBlock, headBlock }: ChainInfo, most: number): string | undefined => {
  const named = Math.max(libBlock, headBlock)
  return named > most
    ? `it reports block ${named}, which is too high for the age of the chain: it has ${most} blocks at most`
    : undefined
}

/** Time limit of a probe, in milliseconds. A slower node is too slow for requests. */
export const LOOK_MS = 1_500
/** Size limit of a probe's answers, in bytes; chain info and the first block have a few thousand. */
const MAX_BYTES = 4 * 1024 * 1024

/** The chain info of a node, or as text the reason why there is none that can be used. */
const infoOf = (asking: Asking, member: Member): Promise<ChainInfo | string> =>
  answerOf(asking, member, chainInfo)

/** Advance in blocks since the last report, or of a head over its last irreversible block, that is not doubted. */
const FAR = 1_000

/**
 * The reason to doubt a node's report; undefined: there is none. A number alone may be nonsense, so a height
 * far from the known one is accepted only when the node returns that very block.
 */
const doubtOf = async (
  asking: Asking,
  member: Member,
  { libBlock: lib, headBlock: head }: ChainInfo,
): Promise<string | undefined> => {
  const known = member.heard?.info
  if (lib > head) return `it reports block ${lib} as irreversible, which is above its head block ${head}`
  for (const [height, what, before] of [
    [lib, 'last irreversible block', known?.libBlock ?? -1],
    [head, 'head', Math.max(lib, known?.headBlock ?? -1)],
  ] as const) {
    if (height <= before + FAR) continue
    const said = await answerOf(asking, member, headOf(height))
    if (typeof said === 'string')
      return `it reports block ${height} as its ${what}, but does not return it: ${said}`
    if (what !== 'head' && said.status !== 'IRREVERSIBLE')
      return `it reports block ${height} as its ${what}, but returns it as ${said.status}`
  }
  return undefined
}

const headOf = (height: number): Question<ReturnType<typeof decodeBlockAnswer>> => ({
  what: `head of block ${height}`,
  path: `/getBlockByNumber/${height}/false`,
  mayBeAbsent: true,
  decode: text => {
    const answer = decodeBlockAnswer(text)
    if (answer.block.height !== height)
      throw new Failure('bad_block', `The node returned block ${answer.block.height} for block ${height}.`)
    return answer
  },
})

/** The node's answer, or as text the reason why there is none that can be used. */
const answerOf = async <T extends object>(
  asking: Asking,
  member: Member,
  question: Question<T>,
): Promise<T | string> => {
  const { timeoutMs, maxBytes } = asking.limits
  const limits = { timeoutMs: Math.min(timeoutMs, LOOK_MS), maxBytes: Math.min(maxBytes, MAX_BYTES) }
  const result = await tryOnce({ ...asking, limits }, member, question)
  if (result.tag === 'done') return result.value
  return result.tag === 'again' ? result.detail : result.failure.message
}

/**
 * Reads a node's current height between the regular probes. Callers that wait for the same node share a request. A
 * caller that comes during a request, and learns too little from it, shares the next one. Never throws: the known state
 * stays if the node does not answer, or reports a change that only a probe may accept.
 */
export type LookAgain = (member: Member, isEnough: () => boolean) => Promise<void>

export const looksAgain = (asking: Asking): LookAgain => {
  const underWay = new Map<Member, Promise<void>>()
  const begin = (member: Member): Promise<void> => {
    const look = lookOnce(asking, member).finally(() => underWay.delete(member))
    underWay.set(member, look)
    return look
  }
  return async (member, isEnough) => {
    const begun = underWay.get(member)
    await begun
    if (begun !== undefined && isEnough()) return
    await (underWay.get(member) ?? begin(member))
  }
}

const lookOnce = async (asking: Asking, member: Member): Promise<void> => {
  // The request rejects when the node is closed; nothing can be learned then.
  const info = await infoOf(asking, member).catch(() => 'closed')
  const known = member.heard?.info
  if (typeof info === 'string' || known === undefined || info.chainId !== known.chainId) return
  const { libBlock: lib, headBlock: head } = info
  const isNear =
    lib <= head && Math.abs(head - known.headBlock) <= FAR && Math.abs(lib - known.libBlock) <= FAR
  if (isNear) asking.pool.noteInfo(member, info)
}
