import { type Block, toBlockFields } from '#chain/block.ts'
import { checkAlone } from '#chain/check.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { hash8 } from '#chain/hash.ts'
import { memberSpans } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { HeadBlock } from '#head/head-state.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { producerKeys } from '#indices/producer.ts'
import type { Node } from '#node/port.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { badRequest, quoteGiven } from '../request/refusals.ts'
import { unknown } from './loading.ts'
import { askNode } from './node-answer.ts'

export type TransactionPosition = {
  readonly height: number
  readonly tx: number
  /** The block of the transaction, if it is not published yet. */
  readonly above?: HeadBlock
}

export type FoundTransaction = {
  /** `PENDING` in the pool, `PACKED` in a block, `IRREVERSIBLE`. */
  readonly status: string
  /** Height of its block; `-1` until that block is irreversible. */
  readonly blockNumber: string
  /** The node's transaction object, compact JSON text. */
  readonly body: string
  /** Absent: the transaction is in no block, or in one that only the node has. */
  readonly place?: TransactionPosition
}

/** `blockNumber` of a transaction that is in no block, or in one that may still be replaced. */
export const NO_BLOCK = '-1'

/** A block with the fields that answers need, stored or from the node. */
export type FoundBlock = {
  readonly status: 'PENDING' | 'IRREVERSIBLE'
  readonly doc: Omit<BlockDoc, 'id' | 'hash8' | 'base' | 'base_hash8'>
}

export const toFoundBlockDoc = async (view: View, block: Block): Promise<FoundBlock['doc']> =>
  toBlockFields(block, (await view.get(producerKeys, block.witness))?.account)

type BranchContext = Pick<Context, 'branch'>

/** A block above the published one, on the followed branch. */
export function findBranchBlock(
  { branch }: BranchContext,
  name: { readonly height: number } | { readonly hash: string },
): FoundBlock | undefined {
  const { lib, blocks } = branch
  const found = blocks.find(({ doc }) => ('hash' in name ? doc.hash === name.hash : doc.height === name.height))
  if (found === undefined) return undefined
  return { status: found.doc.height <= lib ? 'IRREVERSIBLE' : 'PENDING', doc: found.doc }
}

/** A transaction in a block above the published one, on the followed branch. */
export function findBranchTransaction({ branch }: BranchContext, hash: string): FoundTransaction | undefined {
  const { lib, blocks } = branch
  for (const block of blocks) {
    const { doc } = block
    const tx = doc.tx_hashes.includes(hash) ? doc.tx_hashes.split(' ').indexOf(hash) : -1
    const body = block.bodies[tx]
    if (body === undefined) continue
    const { height } = block.doc
    const place: TransactionPosition = { height, tx, above: block }
    return height <= lib
      ? { status: 'IRREVERSIBLE', blockNumber: String(height), body, place }
      : { status: 'PACKED', blockNumber: NO_BLOCK, body, place }
  }
  return undefined
}

/**
 * Whether a node's block above the published one is not, or not known to be, on the followed branch. A node
 * that lags behind may be on a branch that lost. While no branch is followed, only a child of the published
 * block is known to be on the chain.
 */
export function isOffBranch(
  { branch, view: { at } }: BranchContext & Pick<Context, 'view'>,
  { height, parent_hash }: Pick<FoundBlock['doc'], 'height' | 'parent_hash'>,
): boolean {
  if (branch.status === 'apart') return true
  const tip = branch.blocks.at(-1)?.doc ?? at
  if (height === tip.height + 1) return parent_hash !== tip.hash
  return branch.status === 'followed' || height <= tip.height
}

/** Throws 'unavailable' for a node's block that is beside the branch (`isOffBranch`). */
function requireOnBranch(
  context: BranchContext & Pick<Context, 'view'>,
  block: Pick<FoundBlock['doc'], 'height' | 'hash' | 'parent_hash'>,
): void {
  if (!isOffBranch(context, block)) return
  throw new Failure(
    'unavailable',
    `The node has block ${block.height}, ${block.hash}, which is not, or not yet, on the branch that the service follows.`,
    {
      zh: `全节点的区块 ${block.height} 不在本服务所跟踪的分支上（或尚未加入该分支），请稍后重试。`,
      details: { height: block.height, retryAfter: 1 },
    },
  )
}

/** A transaction that is not on the followed branch, as seen from it: pending if its block may still be replaced. */
export function markOffBranch({ branch }: BranchContext, found: FoundTransaction): FoundTransaction {
  const isKnown = branch.status === 'followed' || branch.status === 'apart'
  return isKnown && found.status === 'PACKED' ? { ...found, status: 'PENDING', body: removeReceipt(found.body) } : found
}

function removeReceipt(body: string): string {
  const [from, to] = memberSpans(body).get('tx_receipt') ?? [body.length, body.length]
  return `${body.slice(0, from)}null${body.slice(to)}`
}

/** Number or hash of a block: exactly one of them, or both if they agree. */
export type BlockName = { readonly number?: bigint; readonly hash?: string }

/**
 * The block of a number or hash. It is stored, or above the published block: on the followed branch, or
 * beyond it, where the node has it. Throws 'bad_request' when number and hash are both missing or name
 * different blocks, 'not_found' or 'loading' when there is no such block, 'unavailable' when it is not stored
 * and no node on that branch can be asked.
 */
export async function findBlock(context: Context, { number, hash }: BlockName): Promise<FoundBlock> {
  if (hash !== undefined) {
    const found = await findBlockByHash(context, hash)
    const other = number === undefined ? undefined : await findBlockByNumber(context, number)
    if (number !== undefined && (found ?? other) !== undefined && found?.doc.hash !== other?.doc.hash)
      throw badRequest(
        {
          en: `Parameters 'number' and 'hash' refer to different blocks: ${number} and ${quoteGiven(hash)}; give only one of them.`,
          zh: `参数 'number' 与 'hash' 指向不同的区块：${number} 与 ${quoteGiven(hash)}；请只提供其中一个。`,
        },
        { parameter: 'number' },
      )
    if (found === undefined) throw unknown(context, 'block', hash)
    return found
  }
  if (number === undefined)
    throw badRequest(
      {
        en: "Parameter 'number' or 'hash' is missing; give the block number or the block hash.",
        zh: "缺少参数 'number' 或 'hash'；请提供区块高度或区块哈希。",
      },
      { parameter: 'number' },
    )
  const found = await findBlockByNumber(context, number)
  if (found === undefined) throw unknown(context, 'block', String(number))
  return found
}

/** The stored block of a height; undefined: the height is above the published one. */
async function findStoredBlock({ view }: Pick<Context, 'view'>, height: number): Promise<FoundBlock | undefined> {
  if (height > view.at.height) return undefined
  const doc = await view.get(blocks, blockId(height))
  return doc === undefined ? undefined : { status: 'IRREVERSIBLE', doc }
}

/**
 * The full block of a height or hash from the followed node. The block's hash must match its content. Throws
 * Failure 'bad_block', 'unavailable'.
 */
export async function fetchNodeBlock(
  { view, signal, waitForNode }: Pick<Context, 'view' | 'signal' | 'waitForNode'>,
  node: Node,
  name: { readonly height: number } | { readonly hash: string },
): Promise<ReturnType<typeof decodeBlockAnswer> | undefined> {
  const path = 'height' in name ? `/getBlockByNumber/${name.height}/true` : `/getBlockByHash/${name.hash}/true`
  const text = await askNode(node, path, { at: view.at, signal, waitForNode })
  if (text === undefined) return undefined
  const answer = decodeBlockAnswer(text)
  const { block } = answer
  if ('height' in name ? block.height !== name.height : block.hash !== name.hash)
    throw new Failure(
      'bad_block',
      `The node returned block ${block.height}, ${block.hash}, for ${'height' in name ? name.height : name.hash}.`,
      { details: { height: block.height } },
    )
  checkAlone(block)
  return answer
}

async function findNodeBlock(
  context: Pick<Context, 'view' | 'signal' | 'waitForNode'>,
  node: Node,
  name: Parameters<typeof fetchNodeBlock>[2],
): Promise<FoundBlock | undefined> {
  const answer = await fetchNodeBlock(context, node, name)
  if (answer === undefined) return undefined
  return { status: answer.status, doc: await toFoundBlockDoc(context.view, answer.block) }
}

async function findBlockByNumber(context: Context, number: bigint): Promise<FoundBlock | undefined> {
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  const height = Number(number)
  const known = (await findStoredBlock(context, height)) ?? findBranchBlock(context, { height })
  if (known !== undefined || context.node === undefined || height <= context.view.at.height) return known
  const found = await findNodeBlock(context, context.node, { height })
  if (found !== undefined) requireOnBranch(context, found.doc)
  return found
}

async function findBlockByHash(context: Context, hash: string): Promise<FoundBlock | undefined> {
  const { view, node } = context
  const isIt = (candidate: BlockDoc): boolean => candidate.hash === hash
  const docs: readonly BlockDoc[] = await view.find(blocks, 'hash8', hash8(hash), some => some.some(isIt))
  const doc = docs.find(isIt)
  if (doc !== undefined) return { status: 'IRREVERSIBLE', doc }
  const known = findBranchBlock(context, { hash })
  if (known !== undefined || node === undefined) return known
  const found = await findNodeBlock(context, node, { hash })
  if (found === undefined || found.doc.height <= view.at.height) return undefined
  // A node still returns blocks that were replaced on the chain: only the block at its height counts.
  const onChain = await findNodeBlock(context, node, { height: found.doc.height })
  if (onChain?.doc.hash !== hash) return undefined
  requireOnBranch(context, onChain.doc)
  return onChain
}
