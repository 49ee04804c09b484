import { memberSpans } from '#chain/json-text.ts'
import { Failure } from '#failure/failure.ts'
import type { HeadBlock } from '#head/head-state.ts'
import type { Context } from '../define.ts'
import type { FoundBlock } from '../shape/block-answer.ts'
import { type FoundTransaction, NO_BLOCK, type TransactionPosition } from './found-transaction.ts'

type BranchContext = Pick<Context, 'branch'>

/** A block above the published one, on the followed branch. */
export function blockOnBranch(
  { branch }: BranchContext,
  name: { readonly height: number } | { readonly hash: string },
): FoundBlock | undefined {
  const { lib, blocks } = branch
  const found = blocks.find(({ doc }) => ('hash' in name ? doc.hash === name.hash : doc.height === name.height))
  if (found === undefined) return undefined
  return { status: found.doc.height <= lib ? 'IRREVERSIBLE' : 'PENDING', doc: found.doc }
}

/** A transaction in a block above the published one, on the followed branch. */
export function transactionOnBranch({ branch }: BranchContext, hash: string): FoundTransaction | undefined {
  const { lib, blocks } = branch
  for (const block of blocks) {
    const tx = findPositionInBlock(block, hash)
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

/** Position of the transaction in the block; -1: it is not in the block. */
const findPositionInBlock = ({ doc }: HeadBlock, hash: string): number =>
  doc.tx_hashes.includes(hash) ? doc.tx_hashes.split(' ').indexOf(hash) : -1

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
export function requireOnBranch(
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

/**
 * A transaction that is not on the followed branch, as seen from that branch: pending, if its node reports it
 * in a block that may still be replaced.
 */
export function markOffBranch({ branch }: BranchContext, found: FoundTransaction): FoundTransaction {
  const isKnown = branch.status === 'followed' || branch.status === 'apart'
  return isKnown && found.status === 'PACKED'
    ? { ...found, status: 'PENDING', body: withoutReceipt(found.body) }
    : found
}

function withoutReceipt(body: string): string {
  const [from, to] = memberSpans(body).get('tx_receipt') ?? [body.length, body.length]
  return `${body.slice(0, from)}null${body.slice(to)}`
}
