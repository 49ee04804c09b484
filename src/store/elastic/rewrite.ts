import type { AnyIndex } from '#indices/registry.ts'
import type { Rewrite } from '#store/port.ts'
import { ask } from './ask.ts'
import { type Bulk, sendBulk } from './bulk.ts'
import { type BulkItem, deleteItem, indexItem, versionedDeleteItem, versionedItem } from './bulk-item.ts'
import { encode } from './documents.ts'
import { insist } from './insist.ts'
import { versionAt } from './meta.ts'
import type { Names } from './names.ts'
import { type Partitions, partitionAt } from './partitions.ts'
import { isReadOnly } from './read-only.ts'
import { refresh } from './refresh.ts'
import { heightOf } from './view.ts'

/**
 * Puts documents right one by one. State gets the stamp of the published height: readers of that height take it, and
 * whatever a loader writes later wins. Places are part of their rows.
 */
export const rewriteDocuments = async (
  bulk: Bulk,
  names: Names,
  { partitions, stamp }: { readonly partitions: Partitions; readonly stamp: number },
  { put, remove }: Rewrite,
): Promise<void> => {
  const version = versionAt(stamp)
  const standsIn = (index: AnyIndex, id: string): string =>
    index.kind === 'state'
      ? names.state(index)
      : names.partition(index, partitionAt(partitions, heightOf(id) ?? 0))
  const items: readonly BulkItem[] = [
    ...remove.map(({ index, id, stray }) =>
      index.kind === 'state'
        ? versionedDeleteItem(names.into(index), id, version)
        : deleteItem(stray ?? standsIn(index, id), id),
    ),
    ...put.map(({ index, doc }) =>
      index.kind === 'state'
        ? versionedItem(names.into(index), doc.id, version, encode(index, doc, stamp))
        : indexItem(standsIn(index, doc.id), doc.id, encode(index, doc)),
    ),
  ]
  const indices = [...new Set(items.map(({ index }) => index))]
  const closed = await openForWriting(bulk, indices)
  try {
    await sendBulk(bulk, items)
  } finally {
    await block(bulk, closed, 'true')
  }
  const state = items.filter((_, at) => [...remove, ...put][at]?.index.kind === 'state')
  await insist(bulk, state, version)
  await refresh(bulk, indices)
}

/** Merged partitions are read-only: makes those among `indices` writable and says which they were. */
export const openForWriting = async (bulk: Bulk, indices: readonly string[]): Promise<readonly string[]> => {
  const closed: string[] = []
  for (const name of indices) if (await isReadOnly(bulk.connection, name)) closed.push(name)
  await block(bulk, closed, 'false')
  return closed
}

const block = async (bulk: Bulk, indices: readonly string[], write: 'true' | 'false'): Promise<void> => {
  for (const name of indices)
    await ask(bulk.connection, {
      what: `make ${name} ${write === 'true' ? 'read-only' : 'writable'}`,
      method: 'PUT',
      path: `/${name}/_settings`,
      body: JSON.stringify({ index: { blocks: { write } } }),
    })
}
