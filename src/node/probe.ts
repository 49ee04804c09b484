import type { Block } from '#chain/block.ts'
import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { type Asking, type Question, tryOnce } from './call.ts'
import type { Member } from './pool.ts'
import type { ChainIdentity, ChainInfo, NodeEvent } from './port.ts'

/** Two blocks' time: what is known of a node is about as old as its next block. */
const EVERY_MS = 1_000
/** A node that needs longer to say where it stands is not one to send requests to. */
const TIMEOUT_MS = 1_500
/** Where the chain stands and its first block are a few thousand bytes. */
const MAX_BYTES = 4 * 1024 * 1024

export type Watching = {
  /** Which chain is stored; undefined: nothing is stored yet. */
  readonly expected: () => Promise<ChainIdentity | undefined>
  readonly onEvent: (event: NodeEvent) => void
  /** Ends it. */
  readonly signal: AbortSignal
}

/**
 * Looks at every node again and again, each by itself with one question in flight: a node that hangs delays nobody.
 * Resolves after the first look at all of them, the rest goes on until `signal` aborts.
 */
export const watchNodes = async (asking: Asking, watching: Watching): Promise<void> => {
  const { pool, clock, limits } = asking
  const { signal, expected } = watching
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
  const look = async (member: Member): Promise<Look> => {
    const started = clock.now()
    // Whatever goes wrong with a look, the looking goes on.
    const found = await lookAt(probing, member, signal).catch((error: unknown) => ({ silent: String(error) }))
    return { ...found, ms: clock.now() - started }
  }
  const goOn = async (member: Member): Promise<void> => {
    for (;;) {
      await clock.sleep(EVERY_MS, signal)
      if (signal.aborted) return
      await learn()
      note(asking, member, await look(member), watching)
    }
  }
  await learn()
  const looks = await Promise.all(pool.members.map(async member => ({ member, look: await look(member) })))
  // In the order the nodes are given: the first that answers says which chain it is.
  for (const { member, look } of looks) note(asking, member, look, watching)
  for (const member of pool.members) void goOn(member)
}

type Said = { readonly info: ChainInfo; readonly genesis: string } | { readonly silent: string }
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

const lookAt = async (asking: Asking, member: Member, signal: AbortSignal): Promise<Said> => {
  const info = await answerOf(asking, member, chainInfo, signal)
  if (typeof info === 'string') return { silent: info }
  if (member.genesis !== undefined) return { info, genesis: member.genesis }
  const genesis = await answerOf(asking, member, firstBlock, signal)
  // Without it nobody knows which chain the node has.
  return typeof genesis === 'string' ? { silent: genesis } : { info, genesis: genesis.hash }
}

/** What the node says, or as text why it says nothing that can be used. */
const answerOf = async <T extends object>(
  asking: Asking,
  member: Member,
  question: Question<T>,
  signal: AbortSignal,
): Promise<T | string> => {
  const result = await tryOnce(asking, member, question, signal)
  if (result.tag === 'done') return result.value
  return result.tag === 'again' ? result.detail : result.failure.message
}

/** Notes what a look found, and tells what is new about the node. */
const note = ({ pool }: Asking, member: Member, look: Look, { onEvent, signal }: Watching): void => {
  if (signal.aborted) return
  const { silent, foreign, heard } = member
  const tell = (type: NodeEvent['type'], detail: string): void =>
    onEvent({ type, node: member.endpoint.name, detail })
  if ('silent' in look) {
    member.silent = look.silent
    member.heard = undefined
    // What comes back at this address may be another node.
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
