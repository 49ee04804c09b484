import type { AnyIndex } from '#indices/registry.ts'
import type { Rewrite } from '#store/port.ts'
import { sendBulk } from '../client/bulk.ts'
import { type BulkItem, deleteItem, deleteSeenItem, indexItem, versionedItem } from '../client/bulk-item.ts'
import { forceVersion } from '../client/force-version.ts'
import { getMany } from '../client/get-many.ts'
import { refresh } from '../client/refresh.ts'
import { addWriteBlock, isReadOnly, removeWriteBlock } from '../client/write-block.ts'
import { heightOf } from '../read/view.ts'
import { versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { encode, stampText } from '../schema/documents.ts'
import { partsOf } from '../schema/names.ts'
import { type Partitions, partitionAt } from '../schema/partitions.ts'
import { toStateId } from '../schema/state-ids.ts'

/**
 * Corrects documents one by one. State gets the stamp of the published height: readers of that height accept
 * it, and later writes of a loader overwrite it. Places are part of their rows.
 */
export const rewriteDocuments = async (
  cluster: Cluster,
  { partitions, stamp }: { readonly partitions: Partitions; readonly stamp: number },
  { put, remove }: Rewrite,
): Promise<void> => {
  const { names } = cluster
  const version = versionAt(stamp)
  const storedIn = (index: AnyIndex, id: string): string =>
    index.kind === 'state' ? names.state(index) : names.partition(index, partitionAt(partitions, heightOf(id) ?? 0))
  const into = (index: AnyIndex, id: string): string =>
    index.kind === 'state' ? names.into(index) : names.intoPartition(index, partitionAt(partitions, heightOf(id) ?? 0))
  const gone = remove.map(({ index, id, stray }) =>
    deleteItem(stray ?? storedIn(index, id), index.kind === 'state' ? toStateId(index, id) : id),
  )
  const items: readonly BulkItem[] = [
    ...(await deletesAsSeen(cluster, gone)),
    ...put.map(({ index, doc }) =>
      index.kind === 'state'
        ? versionedItem(
            { index: into(index, doc.id), id: toStateId(index, doc.id) },
            version,
            stampText(encode(index, doc), stamp),
          )
        : indexItem(into(index, doc.id), doc.id, encode(index, doc)),
    ),
  ]
  const indices = [
    ...new Set([...gone.map(({ index }) => index), ...put.map(({ index, doc }) => storedIn(index, doc.id))]),
  ]
  const closed = await makeWritable(cluster, indices)
  try {
    await sendBulk(cluster, items)
  } finally {
    for (const name of closed) await addWriteBlock(cluster.connection, name)
  }
  const isState = (at: number, of: readonly { readonly index: AnyIndex }[]) => of[at]?.index.kind === 'state'
  const written = items.slice(items.length - put.length)
  const state = [...gone.filter((_, at) => isState(at, remove)), ...written.filter((_, at) => isState(at, put))]
  await forceVersion(cluster, state, version)
  for (const part of partsOf(indices)) await refresh(cluster, part)
}

/**
 * Deletes for the existing documents, each in the version that was read: a delete with an explicit version
 * would recreate a missing index.
 */
export const deletesAsSeen = async (cluster: Cluster, gone: readonly BulkItem[]): Promise<readonly BulkItem[]> => {
  const found = await getMany(cluster.connection, gone, { realtime: true })
  return gone.flatMap(({ index, id }, at) => {
    const got = found[at]
    return got === undefined ? [] : [deleteSeenItem({ index, id }, got)]
  })
}

/** Removes the write block from `indices` that have one, such as merged partitions; returns their names. */
export const makeWritable = async (cluster: Cluster, indices: readonly string[]): Promise<readonly string[]> => {
  const closed: string[] = []
  for (const name of indices) if (await isReadOnly(cluster.connection, name)) closed.push(name)
  for (const name of closed) await removeWriteBlock(cluster.connection, name)
  return closed
}
