import type { Block } from '#chain/block.ts'
import { checkBaseTransaction, PARENT_HASH } from '#chain/check.ts'
import { decodeBlockTransactions } from '#chain/decode.ts'
import { Failure } from '#failure/failure.ts'
import {
  assembleBlocks,
  type BlockMessage,
  type BulkAnswers,
  type BulkPart,
  type HeightRange,
  parseBulkParts,
  unpackBlocks,
} from './bulk.ts'
import { BLOCK_SIZE, callNode, NO_SUCH_CALL, RANGE_SIZE, RefusedCall, ResponseTooLarge } from './call.ts'
import {
  type FetchContext,
  type FetchedBlock,
  fetchHeads,
  fetchSingle,
  headsQuestion,
  type Proven,
  proveBlocks,
} from './prove-blocks.ts'

/** Number of blocks fetched singly at the same time when a bulk answer does not help. */
const SINGLES = 4

/** Fetches and proves one irreversible block, a child of any given `parent`. Throws Failure 'bad_block'. */
export async function fetchBlock(fetching: FetchContext, height: number, parent: string | undefined): Promise<Proven> {
  const [proven] = await proveBlocks(fetching, [await fetchSingle(fetching, height, { parent })])
  if (proven === undefined) throw new Failure('defect', `Block ${height} was not proved.`)
  return proven
}

/** A range whose bulk answers have arrived as text, to be parsed at its turn: text takes little memory. */
export type FetchedRange = HeightRange & {
  /** No range follows this one. */
  readonly ends: boolean
  readonly answers?: BulkAnswers
  /** The packed parts from a proving thread. */
  readonly proved?: BlockMessage
  /** The blocks themselves if there were no bulk answers. */
  readonly blocks?: readonly Proven[]
}

/**
 * Fetches the bulk answers of a range and has them proved if there is a thread for it. Without bulk answers the range is
 * fetched and proved right away by other calls (`proveFetchedRange`), so several ranges are in flight in that case too.
 */
export async function fetchRange(
  fetching: FetchContext,
  range: HeightRange & { readonly ends: boolean },
): Promise<FetchedRange> {
  const { context, size, provers, prove } = fetching
  const { from, to } = range
  const singly = async () => ({ ...range, blocks: await proveFetchedRange(fetching, range) })
  if (from === to || !size.bulk()) return singly()
  try {
    const [heads, lists] = await Promise.all([
      catchUnusable(size, callNode(context, { ...headsQuestion(range), decode: keepText })),
      catchUnusable(size, fetchLists(fetching, range, keepText)),
    ])
    if (heads === undefined || lists === undefined) return await singly()
    const answers = { from, to, prove, heads, lists }
    const proved = await provers?.prove(answers)
    return proved === undefined ? { ...range, answers } : { ...range, proved }
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error
    size.noteTooLarge(to - from + 1)
    return { ...range, blocks: await fetchInHalves(fetching, range) }
  }
}

const keepText = (text: string): string => text

/**
 * The blocks of a range in order, each the child of the one before, proved to the requested level; the last
 * one by its own signature. Blocks that the bulk answers lack are fetched singly, with checks that are no
 * weaker. A range whose answer is too large is halved.
 */
export async function proveFetchedRange(fetching: FetchContext, fetched: FetchedRange): Promise<readonly Proven[]> {
  if (fetched.blocks !== undefined) return fetched.blocks
  const { from, ends } = fetched
  const found = await parseRangeParts(fetching, fetched)
  if (found === 'too_large') return fetchInHalves(fetching, fetched)
  // A last head without signature has no child yet, so only the hash that the node reports for a single block
  // proves it.
  const parts = fetching.prove === 'linked' && ends ? found.with(-1, {}) : found
  const whole = parts.map(({ head, block }): FetchedBlock | undefined => block && { block, ...(head && { head }) })
  const missing = [...whole.keys()].filter(at => whole[at] === undefined)
  for (let done = 0; done < missing.length; done += SINGLES)
    await Promise.all(
      missing.slice(done, done + SINGLES).map(async at => {
        whole[at] = await fetchSingle(fetching, from + at, { head: parts[at]?.head })
      }),
    )
  const single = (height: number, parent: string | undefined) => fetchSingle(fetching, height, { parent })
  const run = whole.filter(each => each !== undefined)
  return proveBlocks(fetching, await linkBlocks(run, { fetch: single }))
}

/** The blocks of a range whose answer is too large, fetched in two halves. */
async function fetchInHalves(
  fetching: FetchContext,
  { from, to, ends }: Pick<FetchedRange, 'from' | 'to' | 'ends'>,
): Promise<readonly Proven[]> {
  const middle = Math.floor((from + to) / 2)
  const lower = await fetchRange(fetching, { from, to: middle, ends: false })
  const blocks = await proveFetchedRange(fetching, lower)
  const upper = await fetchRange(fetching, { from: middle + 1, to, ends })
  return [...blocks, ...(await proveFetchedRange(fetching, upper))]
}

/** The parts of a range from the answers at hand; from new ones if those contain any fault. */
async function parseRangeParts(
  fetching: FetchContext,
  { answers, proved, ...range }: FetchedRange,
): Promise<readonly BulkPart[] | 'too_large'> {
  const { from, to } = range
  const { size } = fetching
  if (proved !== undefined) return unpackBlocks(proved)
  try {
    if (answers !== undefined) return parseBulkParts(answers)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
  const none = Array.from({ length: to - from + 1 }, (): BulkPart => ({}))
  if (from === to || !size.bulk()) return none
  try {
    return (await refetchBulk(fetching, range)) ?? none
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error
    size.noteTooLarge(to - from + 1)
    return 'too_large'
  }
}

/**
 * Repeats the bulk calls and parses each answer on arrival, so that another node is asked after a wrong one;
 * undefined: no heads.
 */
async function refetchBulk(given: FetchContext, range: HeightRange): Promise<readonly BulkPart[] | undefined> {
  const { size, context } = given
  // The range's first request was one of the tries.
  const fetching: FetchContext = { ...given, context: { ...context, tries: Math.max(1, context.tries - 1) } }
  const [heads, lists] = await Promise.all([
    catchUnusable(size, fetchHeads(fetching, range)),
    catchUnusable(size, fetchLists(fetching, range, decodeBlockTransactions)),
  ])
  const blocks = heads === undefined || lists === undefined ? [] : assembleBlocks(heads, lists)
  return heads?.map((head, at) => ({ head, ...(blocks[at] && { block: blocks[at] }) }))
}

/** undefined when the node refuses or its answer is wrong; the blocks are then fetched singly. */
async function catchUnusable<T>(size: FetchContext['size'], asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ResponseTooLarge) throw error
    if (error instanceof RefusedCall && error.code === NO_SUCH_CALL) size.disableBulk()
    if (error instanceof RefusedCall || (error instanceof Failure && error.kind === 'bad_block')) return undefined
    throw error
  }
}

const fetchLists = <T>(
  { context, size }: FetchContext,
  { from, to }: HeightRange,
  decode: (text: string) => T,
): Promise<T> =>
  callNode(context, {
    what: `transactions of blocks ${from} … ${to}`,
    path: '/getBlockTxsByContract',
    body: JSON.stringify({ from_block: from, to_block: to }),
    size: from === to ? BLOCK_SIZE : RANGE_SIZE,
    splits: to > from,
    decode: text => {
      const decoded = decode(text)
      size.note(to - from + 1, text.length)
      return decoded
    },
  })

/**
 * The blocks of a run, each the child of the one before. If two neighbours do not fit, either may be wrong,
 * so both are fetched again, each as a child of the one before. `parent`: the hash of the block before the first one;
 * absent: any. Throws Failure 'bad_block' if they still do not fit.
 */
export async function linkBlocks<T extends { readonly block: Block }>(
  run: readonly T[],
  {
    parent,
    fetch,
  }: { readonly parent?: string | undefined; fetch(height: number, parent: string | undefined): Promise<T> },
): Promise<readonly T[]> {
  const right: T[] = []
  for (const each of run) {
    const previous = right.at(-1)
    if (previous === undefined) {
      const fits = parent === undefined || each.block.parentHash === parent
      right.push(fits ? each : await fetch(each.block.height, parent))
      continue
    }
    if (findMisfit(previous.block, each.block) === undefined) {
      right.push(each)
      continue
    }
    const before = await fetch(previous.block.height, right.at(-2)?.block.hash ?? parent)
    const again = await fetch(each.block.height, before.block.hash).catch(error => {
      // Both blocks have been fetched again, so no other request can help.
      if (!(error instanceof Failure) || error.details['rule'] !== PARENT_HASH) throw error
      const { message, details } = error
      throw new Failure('bad_block', message, { cause: error, details, help: OTHER_NODE })
    })
    const wrong = findMisfit(before.block, again.block)
    if (wrong !== undefined) throw wrong
    right.splice(-1, 1, before, again)
  }
  return right
}

const OTHER_NODE = 'The node contradicts itself. Use another node.'

/** The reason why `block` is not the child of `parent`; undefined: it is. */
function findMisfit(parent: Block, block: Block): Failure | undefined {
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
