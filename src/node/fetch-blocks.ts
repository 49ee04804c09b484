import type { Block } from '#chain/block.ts'
import { checkBaseTransaction, PARENT_HASH } from '#chain/check.ts'
import { decodeBlockTransactions } from '#chain/decode.ts'
import { Failure } from '#failure/failure.ts'
import { assemble } from './bulk.ts'
import type { Part, Range } from './bulk-answers.ts'
import { ask, NO_SUCH_CALL, Refused, TooLarge } from './call.ts'
import { fetchHeads, headsQuestion } from './fetch-heads.ts'
import { type Found, fetchSingle } from './fetch-single.ts'
import type { Fetching } from './fetching.ts'
import { type Proven, proveBlocks } from './prove-blocks.ts'

/** Blocks asked for one by one at the same time, when a bulk answer does not help. */
const SINGLES = 4

/** One irreversible block by itself, proved; a child of `parent` if that is given. Throws Failure 'bad_block'. */
export const fetchBlock = async (
  fetching: Fetching,
  height: number,
  parent: string | undefined,
): Promise<Proven> => {
  const [proven] = await proveBlocks(fetching, [await fetchSingle(fetching, height, { parent })])
  if (proven === undefined) throw new Failure('defect', `Block ${height} was not proved.`)
  return proven
}

/**
 * Blocks of a range in order, each a child of the one before, proved as far as is asked; the last one by its own
 * signature. Bulk calls first; what they do not give is asked for by itself, with no weaker checks; a range whose answer
 * is too large is halved. `ends`: no block is asked for behind it.
 */
export const fetchBlocks = async (
  fetching: Fetching,
  range: Range & { readonly ends: boolean },
): Promise<readonly Proven[]> => {
  const found = await bulk(fetching, range)
  if (found === 'too_large') {
    const middle = Math.floor((range.from + range.to) / 2)
    const lower = await fetchBlocks(fetching, { from: range.from, to: middle, ends: false })
    const upper = await fetchBlocks(fetching, { ...range, from: middle + 1 })
    return [...lower, ...upper]
  }
  // Without its signature, nothing but the node's word of its hash proves a head that has no child yet.
  const parts = fetching.prove === 'linked' && range.ends ? found.with(-1, {}) : found
  const whole = await withSingles(fetching, range.from, parts)
  const single = (height: number, parent: string | undefined) => fetchSingle(fetching, height, { parent })
  return proveBlocks(fetching, await linked(whole, { fetch: single }))
}

const bulk = async (fetching: Fetching, range: Range): Promise<readonly Part[] | 'too_large'> => {
  const { from, to } = range
  const { size } = fetching
  const none = Array.from({ length: to - from + 1 }, (): Part => ({}))
  if (from === to || !size.bulk()) return none
  try {
    return (await byThread(fetching, range)) ?? (await byItself(fetching, range)) ?? none
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    size.tooLarge(to - from + 1)
    return 'too_large'
  }
}

/** undefined where the node does not give heads. */
const byItself = async (fetching: Fetching, range: Range): Promise<readonly Part[] | undefined> => {
  const { size } = fetching
  const [heads, lists] = await Promise.all([
    orNothing(size, fetchHeads(fetching, range)),
    orNothing(size, fetchLists(fetching, range, decodeBlockTransactions)),
  ])
  const blocks = heads === undefined || lists === undefined ? [] : assemble(heads, lists)
  return heads?.map((head, at) => {
    const block = blocks[at]
    return block === undefined ? { head } : { head, block }
  })
}

/** The same by another thread; undefined where there is none, or anything is wrong with the answers. */
const byThread = async (fetching: Fetching, range: Range): Promise<readonly Part[] | undefined> => {
  const { provers, size, prove } = fetching
  if (provers === undefined) return undefined
  const [heads, lists] = await Promise.all([
    orNothing(size, ask(fetching.asking, { ...headsQuestion(range), decode: text => text })),
    orNothing(
      size,
      fetchLists(fetching, range, text => text),
    ),
  ])
  return heads === undefined || lists === undefined
    ? undefined
    : provers.prove({ from: range.from, to: range.to, prove, heads, lists })
}

/** undefined when the node refuses, or its answer is wrong: the blocks are then requested one by one. */
const orNothing = async <T>(size: Fetching['size'], asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked
  } catch (error) {
    if (error instanceof TooLarge) throw error
    if (error instanceof Refused && error.code === NO_SUCH_CALL) size.noBulk()
    if (error instanceof Refused || (error instanceof Failure && error.kind === 'bad_block')) return undefined
    throw error
  }
}

const fetchLists = <T>(
  { asking, size }: Fetching,
  { from, to }: Range,
  decode: (text: string) => T,
): Promise<T> =>
  ask(asking, {
    what: `transactions of blocks ${from} … ${to}`,
    path: '/getBlockTxsByContract',
    body: JSON.stringify({ from_block: from, to_block: to }),
    decode: text => {
      const decoded = decode(text)
      size.note(to - from + 1, text.length)
      return decoded
    },
  })

const withSingles = async (
  fetching: Fetching,
  from: number,
  parts: readonly Part[],
): Promise<readonly Found[]> => {
  const found: Found[] = []
  for (let at = 0; at < parts.length; at += SINGLES)
    found.push(
      ...(await Promise.all(
        parts
          .slice(at, at + SINGLES)
          .map(({ block, ...also }, offset) =>
            block === undefined
              ? fetchSingle(fetching, from + at + offset, { head: also.head })
              : { block, ...also },
          ),
      )),
    )
  return found
}

type Linking<T> = {
  /** The hash of the block before the first one; absent: any. */
  readonly parent?: string | undefined
  /** A block by itself; a child of `parent` if that is given. Throws Failure 'bad_block'. */
  readonly fetch: (height: number, parent: string | undefined) => Promise<T>
}

/**
 * The blocks of a run, each the child of the one before. Where two do not fit, either may be wrong: both are asked for
 * again. Throws Failure 'bad_block' if that is no help.
 */
export const linked = async <T extends { readonly block: Block }>(
  run: readonly T[],
  { parent, fetch }: Linking<T>,
): Promise<readonly T[]> => {
  const right: T[] = []
  for (const each of run) {
    const previous = right.at(-1)
    if (previous === undefined) {
      const fits = parent === undefined || each.block.parentHash === parent
      right.push(fits ? each : await fetch(each.block.height, parent))
      continue
    }
    if (misfit(previous.block, each.block) === undefined) {
      right.push(each)
      continue
    }
    const before = await fetch(previous.block.height, right.at(-2)?.block.hash ?? parent)
    const again = await fetch(each.block.height, before.block.hash).catch(contradiction)
    const wrong = misfit(before.block, again.block)
    if (wrong !== undefined) throw wrong
    right.splice(-1, 1, before, again)
  }
  return right
}

/** Both blocks were asked for again, so no other way to ask is left. */
const contradiction = (error: unknown): never => {
  if (!(error instanceof Failure) || error.details['rule'] !== PARENT_HASH) throw error
  const { message, details } = error
  throw new Failure('bad_block', message, { cause: error, details, help: OTHER_NODE })
}

const OTHER_NODE = 'The node contradicts itself. Use another node.'

/** Whether `block` is the child of `parent`: undefined, or what does not fit. */
const misfit = (parent: Block, block: Block): Failure | undefined => {
  try {
    if (block.parentHash !== parent.hash)
      throw new Failure(
        'bad_block',
        `Block ${block.height}: parent hash is ${block.parentHash}, block ${parent.height} has ${parent.hash}.`,
        { details: { height: block.height }, help: OTHER_NODE },
      )
    checkBaseTransaction(block, parent)
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}
