import type { DocOf } from '#indices/define.ts'
import { type HistoryIndex, historyIndices } from '#indices/registry.ts'
import type { History } from '#store/port.ts'
import { type BulkItem, createItem } from '../client/bulk-item.ts'
import { encode } from '../schema/documents.ts'
import type { Names } from '../schema/names.ts'

/** Writes of history, encoded lazily. Throws 'defect' on a document that could not be stored. */
export const historyItems = function* (
  names: Names,
  partition: number,
  history: Pick<History, 'blocks' | 'transactions' | 'records'>,
): Generator<BulkItem, void, void> {
  for (const index of historyIndices) {
    const name = names.intoPartition(index, partition)
    const docs: readonly DocOf<HistoryIndex>[] = history[index.name]
    for (const doc of docs) yield createItem(name, doc.id, encode(index, doc))
  }
}
