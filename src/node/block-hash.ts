import { decodeBlockAnswer } from '#chain/decode.ts'
import { Failure } from '#failure/failure.ts'
import { type Asking, ask, type Question, Refused, tryOnce } from './call.ts'
import type { SaidHash } from './port.ts'

/** A node that takes longer says nothing this time: the batch that waits for it is on its way. */
const TIMEOUT_MS = 2_000
/** A block without its transactions. */
const MAX_BYTES = 1024 * 1024

/** undefined: the node has the block, but not as an irreversible one. */
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

/** Hash of an irreversible block, undefined when the node has none of that height. */
export const irreversibleHash = async (asking: Asking, height: number): Promise<string | undefined> => {
  try {
    return await ask(asking, questionOf(height))
  } catch (error) {
    if (error instanceof Refused && error.reason === 'block not found') return undefined
    throw error
  }
}

/** What each node says that is neither of another chain nor known to be silent; [] when that is one alone. */
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
