import type { DocOf } from '#indices/define.ts'
import { type HistoryIndex, historyIndices } from '#indices/registry.ts'
import type { History } from '#store/port.ts'
import { sendAcknowledged } from '../client/bulk-acknowledged.ts'
import { type BulkItem, createItem } from '../client/bulk-item.ts'
import type { Sender } from '../client/sender.ts'
import { encode } from '../schema/documents.ts'
import type { Names } from '../schema/names.ts'
import { inOrder } from './in-order.ts'

type Documents = Pick<History, 'blocks' | 'transactions' | 'records'>

type Wanted = { readonly partition: number; readonly history: Documents; readonly searchable?: boolean }

/** Writes history until it is acknowledged, each index's last document after its others. Returns `BulkResult.searchable`. */
export const writeHistory = async (
  cluster: Sender & { readonly names: Names },
  { partition, history, ...options }: Wanted,
): Promise<boolean> => {
  const { first, last } = inOrder(historyItems(cluster.names, partition, history))
  const searchable = await sendAcknowledged(cluster, first, options)
  const left = last()
  return left.length === 0 ? searchable : (await sendAcknowledged(cluster, left)) && searchable
}

/** Writes of history, encoded lazily. Throws 'defect' on a document that could not be stored. */
const historyItems = function* (names: Names, partition: number, history: Documents): Generator<BulkItem, void, void> {
  for (const index of historyIndices) {
    const name = names.intoPartition(index, partition)
    const docs: readonly DocOf<HistoryIndex>[] = history[index.name]
    for (const doc of docs) yield createItem(name, doc.id, encode(index, doc))
  }
}
