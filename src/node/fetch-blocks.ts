import type { Block } from '#chain/block.ts'
import { checkBaseTransaction, checkBlock } from '#chain/check.ts'
import { decodeBlockAnswer, decodeBlockTransactions } from '#chain/decode.ts'
import { decodeRawHeads } from '#chain/raw-head.ts'
import { Failure } from '#failure/failure.ts'
import { assemble } from './assemble.ts'
import { type Asking, ask, Refused, TooLarge } from './call.ts'
import type { RangeSize } from './range-size.ts'

/** Blocks asked for one by one at the same time, when a bulk answer does not help. */
const SINGLES = 4
/** gRPC code of nodes that do not know a call. */
const NO_SUCH_CALL = 12

type Range = { readonly from: number; readonly to: number }

/** One irreversible block, whole by itself and a child of `parent` if that is given. Asked at every node before it fails. */
export const fetchBlock = (
  asking: Asking,
  height: number,
  parent: string | undefined,
  signal?: AbortSignal,
): Promise<Block> =>
  ask(
    asking,
    {
      what: `block ${height}`,
      path: `/getBlockByNumber/${height}/true`,
      decode: text => {
        const { status, block } = decodeBlockAnswer(text)
        if (status !== 'IRREVERSIBLE')
          throw new Failure('unavailable', `Block ${height} is not irreversible at the node.`)
        checkBlock(block, parent, height)
        return block
      },
    },
    signal,
  ).catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error
    throw new Failure('bad_block', `Block ${height}: ${error.message}`, { cause: error, details: { height } })
  })

/**
 * Blocks of a range in order, each whole by itself and a child of the one before. Bulk calls first; what they do not
 * give is asked for by itself; a range whose answer is too large is halved.
 */
export const fetchBlocks = async (
  asking: Asking,
  range: Range,
  size: RangeSize,
  signal?: AbortSignal,
): Promise<readonly Block[]> => {
  const found = await bulk(asking, range, size, signal)
  if (found === 'too_large') {
    const middle = Math.floor((range.from + range.to) / 2)
    const lower = await fetchBlocks(asking, { from: range.from, to: middle }, size, signal)
    const upper = await fetchBlocks(asking, { from: middle + 1, to: range.to }, size, signal)
    return linked(asking, [...lower, ...upper], signal)
  }
  return linked(asking, await withSingles(asking, range.from, found, signal), signal)
}

const bulk = async (
  asking: Asking,
  { from, to }: Range,
  size: RangeSize,
  signal?: AbortSignal,
): Promise<readonly (Block | undefined)[] | 'too_large'> => {
  const none = Array.from({ length: to - from + 1 }, () => undefined)
  if (from === to || !size.bulk()) return none
  try {
    const [heads, lists] = await Promise.all([
      ask(
        asking,
        {
          what: `heads ${from} … ${to}`,
          path: '/getBlockHeaderByRange',
          body: JSON.stringify({ start: from, end: to + 1 }),
          decode: decodeRawHeads,
        },
        signal,
      ),
      ask(
        asking,
        {
          what: `transactions of blocks ${from} … ${to}`,
          path: '/getBlockTxsByContract',
          body: JSON.stringify({ from_block: from, to_block: to }),
          decode: text => {
            const decoded = decodeBlockTransactions(text)
            size.note(to - from + 1, text.length)
            return decoded
          },
        },
        signal,
      ),
    ])
    return assemble({ from, to }, heads, lists)
  } catch (error) {
    if (error instanceof TooLarge) {
      size.tooLarge(to - from + 1)
      return 'too_large'
    }
    if (error instanceof Refused && error.code === NO_SUCH_CALL) size.noBulk()
    if (error instanceof Refused || (error instanceof Failure && error.kind === 'bad_block')) return none
    throw error
  }
}

const withSingles = async (
  asking: Asking,
  from: number,
  found: readonly (Block | undefined)[],
  signal?: AbortSignal,
): Promise<readonly Block[]> => {
  const blocks: Block[] = []
  for (let at = 0; at < found.length; at += SINGLES)
    blocks.push(
      ...(await Promise.all(
        found
          .slice(at, at + SINGLES)
          .map((block, offset) => block ?? fetchBlock(asking, from + at + offset, undefined, signal)),
      )),
    )
  return blocks
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
const linked = async (
  asking: Asking,
  blocks: readonly Block[],
  signal?: AbortSignal,
): Promise<readonly Block[]> => {
  const right: Block[] = []
  for (const block of blocks) {
    const parent = right.at(-1)
    if (parent === undefined || misfit(parent, block) === undefined) {
      right.push(block)
      continue
    }
    const before = await fetchBlock(asking, parent.height, right.at(-2)?.hash, signal)
    const again = await fetchBlock(asking, block.height, before.hash, signal)
    const wrong = misfit(before, again)
    if (wrong !== undefined) throw wrong
    right.splice(-1, 1, before, again)
  }
  return right
}
