import { decodeBlockAnswer, decodeChainInfo } from '#chain/decode.ts'
import { Failure } from '#failure/failure.ts'
import { backoffMs } from '#time/backoff.ts'
import { type Asking, ask, nobodyAnswers, type Question, Refused, tryOnce } from './call.ts'
import type { ChainInfo } from './chain-info.ts'
import { endedByCaller } from './http.ts'
import { type Member, type Pool, REST } from './pool.ts'
import type { SaidHash } from './port.ts'

const QUESTION: Question<ChainInfo> = {
  what: 'getChainInfo',
  path: '/getChainInfo',
  decode: decodeChainInfo,
}

/**
 * Asks all nodes that are not resting for their chain info and returns the highest. At equal heights the
 * later head time wins, since a stuck node repeats the same one.
 */
export const highest = async (asking: Asking): Promise<ChainInfo> => {
  const { pool, clock, signal } = asking
  // The probes know the highest node. Only that node is asked, so a node that hangs delays nothing.
  if (pool.watched) return ask(asking, QUESTION)
  const details = new Map<string, string>()
  for (let round = 1; ; round += 1) {
    const best = await highestNow(asking, details)
    if (best !== undefined) return best
    if (round * pool.members.length >= asking.tries) throw nobodyAnswers(pool, QUESTION.what, details)
    await clock.sleep(backoffMs(REST, round, clock.random()), signal)
    if (signal.aborted) throw endedByCaller(signal)
  }
}

/** One round over all nodes; `details` receives the errors of the other nodes, by name. */
const highestNow = async (asking: Asking, details: Map<string, string>): Promise<ChainInfo | undefined> => {
  const { pool } = asking
  const asked = awake(pool, asking.clock.elapsed())
  const results = await Promise.all(
    asked.map(async member => ({ member, result: await tryOnce(asking, member, QUESTION) })),
  )
  let best: ChainInfo | undefined
  // In the given order of nodes: the first one that answers determines the chain.
  for (const { member, result } of results) {
    if (result.tag !== 'done') {
      details.set(member.endpoint.name, result.tag === 'again' ? result.detail : result.failure.message)
      pool.failed(member, result.tag === 'again' ? result.restMs : undefined)
    } else if (!pool.noteInfo(member, result.value))
      details.set(member.endpoint.name, `it serves another chain: ${member.foreign}`)
    else best = higher(best, result.value)
  }
  return best
}

/** The nodes that do not rest; all of them if all rest. */
const awake = ({ members }: Pool, now: number): readonly Member[] => {
  const found = members.filter(({ restUntil }) => restUntil <= now)
  return found.length > 0 ? found : members
}

const higher = (a: ChainInfo | undefined, b: ChainInfo): ChainInfo => {
  if (a === undefined || b.libBlock > a.libBlock) return b
  return b.libBlock === a.libBlock && b.headTime > a.headTime ? b : a
}

/** Time limit in milliseconds. A slower node's answer is dropped, because a batch waits for the result. */
const TIMEOUT_MS = 2_000
/** Size limit in bytes, for a block without its transactions. */
const MAX_BYTES = 1024 * 1024

/** The answer undefined: the node has the block, but not as an irreversible one. */
const questionOf = (height: number): Question<string | undefined> => ({
  what: `hash of block ${height}`,
  path: `/getBlockByNumber/${height}/false`,
  mayBeAbsent: true,
  decode: text => {
    const { status, block } = decodeBlockAnswer(text)
    if (block.height !== height)
      throw new Failure('bad_block', `The node returned block ${block.height} for block ${height}.`)
    return status === 'IRREVERSIBLE' ? block.hash : undefined
  },
})

/** Hash of an irreversible block; undefined when the node has none at that height. */
export const irreversibleHash = async (asking: Asking, height: number): Promise<string | undefined> => {
  try {
    return await ask(asking, questionOf(height))
  } catch (error) {
    if (error instanceof Refused && error.reason === 'block not found') return undefined
    throw error
  }
}

/** The hash by each node of our chain that is neither silent nor at rest; [] for a single one. */
export const hashesOf = async (asking: Asking, height: number): Promise<readonly SaidHash[]> => {
  const now = asking.clock.elapsed()
  const members = asking.pool.members.filter(
    ({ foreign, silent, restUntil }) => foreign === undefined && silent === undefined && restUntil <= now,
  )
  if (members.length < 2) return []
  const { timeoutMs, maxBytes } = asking.limits
  const shortly = {
    ...asking,
    limits: { timeoutMs: Math.min(timeoutMs, TIMEOUT_MS), maxBytes: Math.min(maxBytes, MAX_BYTES) },
  }
  const said = await Promise.all(
    members.map(async member => {
      const result = await tryOnce(shortly, member, questionOf(height))
      return result.tag === 'done' && result.value !== undefined
        ? [{ node: member.endpoint.name, hash: result.value }]
        : []
    }),
  )
  return said.flat()
}
