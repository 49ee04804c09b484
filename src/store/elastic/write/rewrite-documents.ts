import { type AnyIndex, historyIndices } from '#indices/registry.ts'
import type { Rewrite } from '#store/port.ts'
import { deleteSeenItem, sendBulk, toItem, toVersionedItem } from '../client/bulk.ts'
import { getMany } from '../client/read-documents.ts'
import { requestHits, toSearch } from '../client/request.ts'
import { addWriteBlock, isReadOnly, refresh, removeWriteBlock } from '../client/sender.ts'
import { parseHeight } from '../read/view.ts'
import { type Checkpoint, toVersion } from '../schema/checkpoint.ts'
import { encodeDoc, stampText } from '../schema/documents.ts'
import { HEIGHT } from '../schema/mappings.ts'
import { type Cluster, findPartition, type PartitionStarts, splitNames, toStateId } from '../schema/names.ts'
import { forceVersion } from './send-documents.ts'

type RemovedHit = Readonly<Record<'_index' | '_id', string> & Record<'_seq_no' | '_primary_term', number>>

const MAY_BE_MISSING = { ignore_unavailable: 'true' }

/**
 * Where history is removed, and how the lease is renewed (`Lease.set`). Absent: the store has no checkpoint, so no loader
 * writes it.
 */
type Removal = { readonly cluster: Cluster; readonly set?: (next: Record<string, never>) => Promise<void> }

/** Removes history that a dead loader wrote and did not announce: it is above the checkpoint and any abandoned batch. */
export async function removeUnannounced(
  removal: Removal,
  { end, floor, partitions }: Pick<Checkpoint, 'end' | 'floor' | 'partitions'>,
): Promise<void> {
  await removeHistory(removal, Math.max(floor?.height ?? -1, end?.height ?? -1), partitions)
}

/**
 * Removes history above a height. A loader may have created one more partition. Each document is deleted only in the
 * version that was found, so that a delayed delete cannot remove a later document. Indices may be missing.
 */
export async function removeHistory(removal: Removal, height: number, partitions: PartitionStarts): Promise<void> {
  const { names } = removal.cluster
  const first = findPartition(partitions, height)
  const numbers = Array.from({ length: partitions.length - first + 1 }, (_, at) => first + at)
  const indices = numbers.flatMap(number => historyIndices.map(index => names.partition(index, number)))
  for (const part of splitNames(indices)) await removeFound(removal, part, height)
}

async function removeFound({ cluster, set }: Removal, indices: readonly string[], height: number): Promise<void> {
  for (;;) {
    await refresh(cluster, indices, MAY_BE_MISSING)
    const search = {
      size: 5_000,
      _source: false,
      seq_no_primary_term: true,
      sort: ['_doc'],
      query: { bool: { filter: [{ range: { [HEIGHT]: { gt: height } } }] } },
    }
    const how = { query: MAY_BE_MISSING, timeoutMs: cluster.writeTimeoutMs }
    const hits = await requestHits<RemovedHit>(cluster.connection, toSearch(String(indices), search, how))
    if (hits.length === 0) return
    // A process that was suspended may have found blocks that the next loader has published. If the lease is still its own,
    // no other loader wrote what was found.
    await set?.({})
    const items = hits.map(hit =>
      deleteSeenItem({ index: hit._index, id: hit._id }, { seqNo: hit._seq_no, primaryTerm: hit._primary_term }),
    )
    await sendBulk(cluster, items)
  }
}

/**
 * Corrects documents one by one. State gets the stamp of the published height: readers of that height accept
 * it, and later writes of a loader overwrite it. The places of a row are corrected with the row.
 */
export async function rewriteDocuments(
  cluster: Cluster,
  { partitions, stamp }: { readonly partitions: PartitionStarts; readonly stamp: number },
  { put, remove }: Pick<Rewrite, 'put' | 'remove'>,
): Promise<void> {
  const { names } = cluster
  const version = toVersion(stamp)
  const partitionOf = (id: string): number => findPartition(partitions, parseHeight(id) ?? 0)
  const storedIn = (index: AnyIndex, id: string): string =>
    index.kind === 'state' ? names.state(index) : names.partition(index, partitionOf(id))
  const deletes = remove.map(({ index, id, stray }) =>
    toItem('delete', {
      index: stray ?? storedIn(index, id),
      id: index.kind === 'state' ? toStateId(index, id) : id,
    }),
  )
  const written = put.map(({ index, doc }) => {
    const text = encodeDoc(index, doc)
    if (index.kind === 'history')
      return toItem('index', { index: names.intoPartition(index, partitionOf(doc.id)), id: doc.id }, text)
    return toVersionedItem({ index: names.into(index), id: toStateId(index, doc.id) }, version, stampText(text, stamp))
  })
  // Each in the version that was read: a delete with an explicit version would recreate a missing index.
  const there = await getMany(cluster.connection, deletes, { realtime: true })
  const seen = deletes.flatMap((item, at) => {
    const got = there[at]
    return got === undefined ? [] : [deleteSeenItem(item, got)]
  })
  const indices = [
    ...new Set([...deletes.map(({ index }) => index), ...put.map(({ index, doc }) => storedIn(index, doc.id))]),
  ]
  // Merged partitions are read-only.
  const closed: string[] = []
  for (const name of indices) if (await isReadOnly(cluster.connection, name)) closed.push(name)
  try {
    for (const name of closed) await removeWriteBlock(cluster.connection, name)
    await sendBulk(cluster, [...seen, ...written])
  } finally {
    for (const name of closed) await addWriteBlock(cluster.connection, name)
  }
  const changed = [...remove, ...put]
  const state = [...deletes, ...written].filter((_, at) => changed[at]?.index.kind === 'state')
  await forceVersion(cluster, state, version)
  for (const part of splitNames(indices)) await refresh(cluster, part)
}
