import { checkAlone } from '#chain/check.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { hash8 } from '#chain/hash.ts'
import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { Node } from '#node/port.ts'
import type { Context } from '../define.ts'
import { badRequest, shown } from '../request/refusals.ts'
import { blockFromNode, type FoundBlock } from '../shape/block-answer.ts'
import { blockOnBranch, requireOnBranch } from './branch.ts'
import { askNode } from './node-answer.ts'
import { unknown } from './unknown.ts'

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
    const found = await blockOfHash(context, hash)
    const other = number === undefined ? undefined : await blockOfNumber(context, number)
    if (number !== undefined && (found ?? other) !== undefined && found?.doc.hash !== other?.doc.hash)
      throw differ(number, hash)
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
  const found = await blockOfNumber(context, number)
  if (found === undefined) throw unknown(context, 'block', String(number))
  return found
}

/** The stored block of a height; undefined: the height is above the published one. */
async function storedBlock({ view }: Pick<Context, 'view'>, height: number): Promise<FoundBlock | undefined> {
  if (height > view.at.height) return undefined
  const doc = await view.get(blocks, blockId(height))
  return doc === undefined ? undefined : { status: 'IRREVERSIBLE', doc }
}

/**
 * The full block of a height or hash from the followed node. The block's hash must match its content. Throws
 * Failure 'bad_block', 'unavailable'.
 */
export async function nodeBlock(
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

async function blockOfNode(
  context: Pick<Context, 'view' | 'signal' | 'waitForNode'>,
  node: Node,
  name: Parameters<typeof nodeBlock>[2],
): Promise<FoundBlock | undefined> {
  const answer = await nodeBlock(context, node, name)
  if (answer === undefined) return undefined
  return { status: answer.status, doc: await blockFromNode(context.view, answer.block) }
}

async function blockOfNumber(context: Context, number: bigint): Promise<FoundBlock | undefined> {
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  const height = Number(number)
  const known = (await storedBlock(context, height)) ?? blockOnBranch(context, { height })
  if (known !== undefined || context.node === undefined || height <= context.view.at.height) return known
  const found = await blockOfNode(context, context.node, { height })
  if (found !== undefined) requireOnBranch(context, found.doc)
  return found
}

async function blockOfHash(context: Context, hash: string): Promise<FoundBlock | undefined> {
  const { view, node } = context
  const isIt = (candidate: BlockDoc): boolean => candidate.hash === hash
  const docs: readonly BlockDoc[] = await view.find(blocks, 'hash8', hash8(hash), some => some.some(isIt))
  const doc = docs.find(isIt)
  if (doc !== undefined) return { status: 'IRREVERSIBLE', doc }
  const known = blockOnBranch(context, { hash })
  if (known !== undefined || node === undefined) return known
  const found = await blockOfNode(context, node, { hash })
  if (found === undefined || found.doc.height <= view.at.height) return undefined
  // A node still returns blocks that were replaced on the chain: only the block at its height counts.
  const onChain = await blockOfNode(context, node, { height: found.doc.height })
  if (onChain?.doc.hash !== hash) return undefined
  requireOnBranch(context, onChain.doc)
  return onChain
}

const differ = (number: bigint, hash: string) =>
  badRequest(
    {
      en: `Parameters 'number' and 'hash' refer to different blocks: ${number} and ${shown(hash)}; give only one of them.`,
      zh: `参数 'number' 与 'hash' 指向不同的区块：${number} 与 ${shown(hash)}；请只提供其中一个。`,
    },
    { parameter: 'number' },
  )
