import { toBaseTransaction } from '#chain/base-transaction.ts'
import { hash8 } from '#chain/hash.ts'
import { blocks } from '#indices/block.ts'
import { transactions } from '#indices/transaction.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { transactionOfNode } from './node-transaction.ts'
import { unknown } from './unknown.ts'

/** A transaction and how far it has come. */
export type FoundTransaction = {
  /** `PENDING` in the pool, `PACKED` in a block, `IRREVERSIBLE`. */
  readonly status: string
  /** `-1` until it is in an irreversible block. */
  readonly blockNumber: string
  /** The node's transaction object, compact JSON text. */
  readonly body: string
}

/**
 * The transaction with a hash: from the store, otherwise from the followed node, in a block above the last published
 * one or in the pool. Throws 'not_found' or 'loading' when there is none; 'unavailable' when no node can be asked,
 * because it may be in the pool.
 */
export const findTransaction = async (context: Context, hash: string): Promise<FoundTransaction> => {
  const { view, node } = context
  const found =
    (await stored(view, hash)) ??
    (node === undefined ? undefined : await transactionOfNode(context, node, hash))
  if (found === undefined) throw unknown(context, 'transaction', hash)
  return found
}

const stored = async (view: View, hash: string): Promise<FoundTransaction | undefined> => {
  const key = hash8(hash)
  const docs = await view.find(transactions, 'hash8', key)
  const doc = docs.find(candidate => candidate.hash === hash)
  if (doc !== undefined) return irreversible(doc.height, doc.body)
  for (const block of await view.find(blocks, 'base_hash8', key)) {
    const body = block.tx_hashes.split(' ', 1)[0] === hash ? toBaseTransaction(block) : undefined
    if (body !== undefined) return irreversible(block.height, body)
  }
  return undefined
}

const irreversible = (height: number, body: string): FoundTransaction => ({
  status: 'IRREVERSIBLE',
  blockNumber: String(height),
  body,
})
