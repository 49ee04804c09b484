import { decodeChainInfo } from '#chain/decode.ts'
import { backoffMs } from '#time/backoff.ts'
import { type Asking, ask, nobodyAnswers, type Question, tryOnce } from './call.ts'
import type { ChainInfo } from './chain-info.ts'
import { endedByCaller } from './http.ts'
import type { Member, Pool } from './pool.ts'
import { REST } from './rest.ts'

const QUESTION: Question<ChainInfo> = {
  what: 'getChainInfo',
  path: '/getChainInfo',
  decode: decodeChainInfo,
}

/**
 * Asks all nodes that are not resting for their height and returns the answer of the highest. (A node that is stuck
 * repeats the same head time.)
 */
export const highest = async (asking: Asking): Promise<ChainInfo> => {
  const { pool, clock, signal } = asking
  // The probes know the highest node: only that one is asked, and a node that hangs delays nothing.
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

/** One round over all nodes; `details` gets what each of the others did, by name. */
const highestNow = async (asking: Asking, details: Map<string, string>): Promise<ChainInfo | undefined> => {
  const { pool } = asking
  const asked = awake(pool, asking.clock.elapsed())
  const results = await Promise.all(
    asked.map(async member => ({ member, result: await tryOnce(asking, member, QUESTION) })),
  )
  let best: ChainInfo | undefined
  // In the order the nodes are given: the first that answers says which chain it is.
  for (const { member, result } of results) {
    if (result.tag !== 'done') {
      details.set(member.endpoint.name, result.tag === 'again' ? result.detail : result.failure.message)
      pool.failed(member, result.tag === 'again' ? result.restMs : undefined)
    } else if (!pool.stands(member, result.value))
      details.set(member.endpoint.name, `it serves another chain: ${member.foreign}`)
    else best = higher(best, result.value)
  }
  return best
}

/** The nodes that do not rest; all of them when all rest. */
const awake = ({ members }: Pool, now: number): readonly Member[] => {
  const found = members.filter(({ restUntil }) => restUntil <= now)
  return found.length > 0 ? found : members
}

const higher = (a: ChainInfo | undefined, b: ChainInfo): ChainInfo => {
  if (a === undefined || b.libBlock > a.libBlock) return b
  return b.libBlock === a.libBlock && b.headTime > a.headTime ? b : a
}
