import { isBasePlace, toBaseTransaction } from '#chain/base-transaction.ts'
import { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/position.ts'
import type { ListedRecord } from '#indices/record.ts'
import { transactions } from '#indices/transaction.ts'
import type { View } from '#store/port.ts'

/** The node's transaction objects that contain these rows, as JSON text, by transaction id. */
export async function readBodies(view: View, docs: readonly ListedRecord[]): Promise<ReadonlyMap<string, string>> {
  const bodies = new Map<string, string>()
  const plain = docs.filter(doc => !isBasePlace(doc)).map(({ height, tx }) => transactionId(height, tx))
  for (const doc of await view.getMany(transactions, [...new Set(plain)]))
    if (doc !== undefined) bodies.set(doc.id, doc.body)
  const heights = docs.filter(isBasePlace).map(({ height }) => height)
  for (const block of await view.getMany(blocks, [...new Set(heights)].map(blockId))) {
    const body = block === undefined ? undefined : toBaseTransaction(block)
    if (block !== undefined && body !== undefined) bodies.set(transactionId(block.height, 0), body)
  }
  return bodies
}
