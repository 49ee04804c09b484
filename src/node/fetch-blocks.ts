import type { Block } from '#chain/block.ts'
import { checkBaseTransaction } from '#chain/check.ts'
import { type BlockTransactions, decodeBlockTransactions } from '#chain/decode.ts'
import type { RawHead } from '#chain/raw-head.ts'
import { Failure } from '#failure/failure.ts'
import { assemble } from './assemble.ts'
import { ask, NO_SUCH_CALL, Refused, TooLarge } from './call.ts'
import { fetchHeads, type Range } from './fetch-heads.ts'
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
  return proveBlocks(fetching, await linked(fetching, whole))
}

/** The part of one block in a bulk answer: both, or only the head, or nothing. */
type Part = { readonly head?: RawHead; readonly block?: Block }

const bulk = async (fetching: Fetching, range: Range): Promise<readonly Part[] | 'too_large'> => {
  const { from, to } = range
  const { size } = fetching
  const none = Array.from({ length: to - from + 1 }, (): Part => ({}))
  if (from === to || !size.bulk()) return none
  try {
    const [heads, lists] = await Promise.all([
      orNothing(size, fetchHeads(fetching, range)),
      orNothing(size, fetchLists(fetching, range)),
    ])
    if (heads === undefined) return none
    const blocks = lists === undefined ? [] : assemble(heads, lists)
    return heads.map((head, at) => {
      const block = blocks[at]
      return block === undefined ? { head } : { head, block }
    })
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    size.tooLarge(to - from + 1)
    return 'too_large'
  }
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

const fetchLists = ({ asking, size }: Fetching, { from, to }: Range): Promise<readonly BlockTransactions[]> =>
  ask(asking, {
    what: `transactions of blocks ${from} … ${to}`,
    path: '/getBlockTxsByContract',
    body: JSON.stringify({ from_block: from, to_block: to }),
    decode: text => {
      const decoded = decodeBlockTransactions(text)
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
          .map(({ head, block }, offset) =>
            block === undefined || head === undefined
              ? fetchSingle(fetching, from + at + offset, { head })
              : { block, head },
          ),
      )),
    )
  return found
}

/** Whether `block` is the child of `parent`: undefined, or what does not fit. */
export const misfit = (parent: Block, block: Block): Failure | undefined => {
  try {
    if (block.parentHash !== parent.hash)
      throw new Failure(
        'bad_block',
        `Block ${block.height}: parent hash is ${block.parentHash}, block ${parent.height} has ${parent.hash}.`,
        { details: { height: block.height } },
      )
    checkBaseTransaction(block, parent)
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

/** Where two blocks do not fit, either may be wrong: both are asked for again. Throws Failure 'bad_block' if that is no help. */
const linked = async (fetching: Fetching, found: readonly Found[]): Promise<readonly Found[]> => {
  const right: Found[] = []
  for (const each of found) {
    const parent = right.at(-1)
    if (parent === undefined || misfit(parent.block, each.block) === undefined) {
      right.push(each)
      continue
    }
    const grandparent = right.at(-2)?.block.hash
    const before = await fetchSingle(fetching, parent.block.height, { parent: grandparent })
    const again = await fetchSingle(fetching, each.block.height, { parent: before.block.hash })
    const wrong = misfit(before.block, again.block)
    if (wrong !== undefined) throw wrong
    right.splice(-1, 1, before, again)
  }
  return right
}
