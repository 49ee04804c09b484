import type { Block } from '#chain/block.ts'
import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { highestPossible, type KnownBlock } from '#chain/highest-possible.ts'
import { Failure } from '#failure/failure.ts'
import { type Asking, type Question, tryOnce } from './call.ts'
import type { Member, Pool } from './pool.ts'
import type { ChainIdentity, ChainInfo, NodeEvent } from './port.ts'

/** Two blocks' time: what is known of a node is about as old as its next block. */
const EVERY_MS = 1_000
/** A node that needs longer to report its height is too slow for requests. */
const TIMEOUT_MS = 1_500
/** Chain info and the first block have a few thousand bytes. */
const MAX_BYTES = 4 * 1024 * 1024

export type Watching = {
  /** Which chain is stored; undefined: nothing is stored yet. */
  readonly expected: () => Promise<ChainIdentity | undefined>
  /** The last block that is stored; undefined: none is. */
  readonly stored: () => Promise<KnownBlock | undefined>
  readonly onEvent: (event: NodeEvent) => void
  /** Called after each probe that was noted. */
  readonly onProbe: () => void
}

/**
 * Probes every node regularly, each on its own with one question in flight, so that a node that hangs delays no other.
 * Resolves after the first probe of all nodes; probing goes on until the signal of `asking` aborts.
 */
export const watchNodes = async (asking: Asking, watching: Watching): Promise<void> => {
  const { pool, clock, limits, signal } = asking
  const { expected, stored } = watching
  const probing = {
    ...asking,
    limits: {
      timeoutMs: Math.min(limits.timeoutMs, TIMEOUT_MS),
      maxBytes: Math.min(limits.maxBytes, MAX_BYTES),
    },
  }
  pool.watched = true
  let known = false
  const learn = async (): Promise<void> => {
    if (known) return
    // A store that is out of reach now says it at the next look.
    const chain = await expected().catch(() => undefined)
    if (chain === undefined) return
    pool.expect(chain)
    known = true
  }
  let last: KnownBlock | undefined
  let asked: Promise<void> | undefined
  /** An older block serves as well, so a slow store delays no probe. */
  const learnLast = (): Promise<void> => {
    asked ??= stored()
      .then(
        block => {
          last = block ?? last
          if (last !== undefined) pool.storedHeight = last.height
        },
        () => undefined,
      )
      .finally(() => {
        asked = undefined
      })
    return asked
  }
  const look = async (member: Member): Promise<Look> => {
    const started = clock.elapsed()
    const most = last === undefined ? Number.POSITIVE_INFINITY : highestPossible(last, clock.now())
    // A probe that fails does not end the probing.
    const found = await lookAt(probing, member, most).catch((error: unknown) => ({
      silent: String(error),
    }))
    return { ...found, ms: clock.elapsed() - started }
  }
  const noteLook = (member: Member, look: Look): void => {
    if (signal.aborted) return
    note(pool, { member, look }, watching.onEvent)
    watching.onProbe()
  }
  const goOn = async (member: Member): Promise<void> => {
    for (;;) {
      await clock.sleep(EVERY_MS, signal)
      if (signal.aborted) return
      void learnLast()
      await learn()
      noteLook(member, await look(member))
    }
  }
  await Promise.all([learn(), learnLast()])
  const looks = await Promise.all(pool.members.map(async member => ({ member, look: await look(member) })))
  // In the order the nodes are given: the first that answers says which chain it is.
  for (const { member, look } of looks) noteLook(member, look)
  for (const member of pool.members) void goOn(member)
}

/** `doubted`: what it says of itself is not so at this moment, and is not taken. */
type Said =
  | { readonly info: ChainInfo; readonly genesis: string }
  | { readonly silent: string; readonly doubted?: true }
type Look = Said & { readonly ms: number }

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

/** @param most height of the highest block that there can be */
const lookAt = async (asking: Asking, member: Member, most: number): Promise<Said> => {
  const info = await answerOf(asking, member, chainInfo)
  if (typeof info === 'string') return { silent: info }
  const doubt = tooHigh(info, most) ?? (await doubtOf(asking, member, info))
  if (doubt !== undefined) return { silent: doubt, doubted: true }
  if (member.genesis !== undefined) return { info, genesis: member.genesis }
  const genesis = await answerOf(asking, member, firstBlock)
  // Without it the node's chain is unknown.
  return typeof genesis === 'string' ? { silent: genesis } : { info, genesis: genesis.hash }
}

/** A node that makes up a height can make up the block too; only the age of the chain disproves it. */
const tooHigh = ({ libBlock, headBlock }: ChainInfo, most: number): string | undefined => {
  const named = Math.max(libBlock, headBlock)
  return named > most
    ? `it reports block ${named}, which is too high for the age of the chain: it has ${most} blocks at most`
    : undefined
}

/** Blocks a node may go on between two looks, and its head be above its last irreversible block, without being doubted. */
const FAR = 1_000

/**
 * Why a node does not stand where it says: a number alone may be nonsense, so one that is far from what was known of the
 * node counts only when it has that very block. undefined: nothing speaks against it.
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

/** The node's answer, or as text why there is none that can be used. */
const answerOf = async <T extends object>(
  asking: Asking,
  member: Member,
  question: Question<T>,
): Promise<T | string> => {
  const result = await tryOnce(asking, member, question)
  if (result.tag === 'done') return result.value
  return result.tag === 'again' ? result.detail : result.failure.message
}

/** Notes the result of a probe and reports what is new about the node. */
const note = (
  pool: Pool,
  { member, look }: { readonly member: Member; readonly look: Look },
  onEvent: Watching['onEvent'],
): void => {
  const { silent, foreign, heard } = member
  const tell = (type: NodeEvent['type'], detail: string): void =>
    onEvent({ type, node: member.endpoint.name, detail })
  if ('silent' in look) {
    // The last accepted report counts until it is too old; then the node's height is unknown.
    if (look.doubted === true && heard !== undefined) return
    member.silent = look.silent
    member.heard = undefined
    // Another node may come back at this address.
    member.genesis = undefined
    if (silent === undefined) tell('silent', look.silent)
    return
  }
  member.silent = undefined
  member.genesis = look.genesis
  member.probeMs = look.ms
  if (!pool.stands(member, look.info)) {
    if (foreign !== member.foreign) tell('foreign', member.foreign ?? '')
    return
  }
  if (heard === undefined) tell('heard', `block ${look.info.libBlock}`)
}
