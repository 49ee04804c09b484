import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import { type AnyIndex, type HistoryIndex, historyIndices, type StateChange } from '#indices/registry.ts'
import { missingData } from '#store/failures.ts'
import type { History, Published, Rewrite } from '#store/port.ts'
import type { StateDocument } from '#store/state-port.ts'
import {
  type BulkItem,
  deleteSeenItem,
  ONE_REQUEST_BYTES,
  sendAcknowledged,
  sendBulk,
  toItem,
  toVersionedItem,
} from '../client/bulk.ts'
import { DOCS_AT_ONCE, type Got, getMany } from '../client/read-documents.ts'
import { type Ref, requestHits, requestText, toSearch } from '../client/request.ts'
import { addWriteBlock, isReadOnly, refresh, removeWriteBlock, type Sender } from '../client/sender.ts'
import { parseHeight } from '../read/view.ts'
import { type Checkpoint, toPublishedDoc, toVersion } from '../schema/checkpoint.ts'
import { type Before, type DocSource, encodeDoc, readFormerDoc, stampText } from '../schema/documents.ts'
import { AT, BEFORE, HEIGHT } from '../schema/mappings.ts'
import {
  type Cluster,
  findPartition,
  type Names,
  type PartitionStarts,
  splitNames,
  toStateId,
} from '../schema/names.ts'

type SendOptions = { readonly searchable?: boolean }

/**
 * Sends the last item of each index after all others of that index. If all items fit one request, it ends with the last
 * items: Elasticsearch carries out the items of an index in order, on each copy. Otherwise they are sent after the others
 * are acknowledged. Either way, a copy that shows the last document of an index has the others, because a copy that missed
 * an acknowledged write is removed from the set that gets later writes. Returns `BulkResult.searchable`.
 */
async function sendInOrder(
  items: Iterable<BulkItem>,
  send: (items: Iterable<BulkItem>, options: SendOptions) => Promise<boolean>,
  options: SendOptions = {},
): Promise<boolean> {
  const held = new Map<string, BulkItem>()
  const first = function* (): Generator<BulkItem, void, void> {
    let bytes = 0
    for (const item of items) {
      const before = held.get(item.index)
      if (before !== undefined) yield before
      held.set(item.index, item)
      bytes += item.bytes
    }
    if (bytes > ONE_REQUEST_BYTES) return
    yield* held.values()
    held.clear()
  }
  const searchable = await send(first(), options)
  if (held.size === 0) return searchable
  await send(held.values(), {})
  return false
}

/**
 * Writes history, encoded lazily, until it is acknowledged. Throws 'defect' on a document that could not be stored. Returns
 * `BulkResult.searchable`.
 */
export function writeHistory(
  cluster: Sender & { readonly names: Names },
  {
    partition,
    history,
    ...options
  }: SendOptions & { readonly partition: number; readonly history: Omit<History, 'filling'> },
): Promise<boolean> {
  const items = function* (): Generator<BulkItem, void, void> {
    for (const index of historyIndices) {
      const into = cluster.names.intoPartition(index, partition)
      const docs: readonly DocOf<HistoryIndex>[] = history[index.name]
      for (const doc of docs) yield toItem('create', { index: into, id: doc.id }, encodeDoc(index, doc))
    }
  }
  return sendInOrder(items(), (part, how) => sendAcknowledged(cluster, part, how), options)
}

/** The stamp of a batch, and that of the published height before it; −1: nothing is published. */
type Stamps = { readonly stamp: number; readonly published: number }

/**
 * Texts of documents. The document that a batch replaces is often one that the previous batch has written, and as long as
 * it is cached as such, its text is, too.
 */
const texts = new WeakMap<object, string>()

/** The writes of the state documents of a batch; newer documents stay. Throws 'defect' on one that cannot be stored. */
export function toStateItems(
  names: Names,
  changes: readonly StateChange[],
  { stamp, published }: Stamps,
): readonly BulkItem[] {
  const version = toVersion(stamp)
  return changes.map(({ index, doc, before }) => {
    const text = encodeDoc(index, doc)
    texts.set(doc, text)
    const former = before && (texts.get(before) ?? encodeDoc(index, before))
    const source = stampText(text, stamp, { at: published, doc: former })
    return toVersionedItem({ index: names.into(index), id: toStateId(index, doc.id) }, version, source)
  })
}

/** Sends state documents and makes them searchable. May be repeated. `indices`: those of the documents. */
export async function sendState(
  cluster: Cluster,
  items: readonly BulkItem[],
  indices: readonly string[],
): Promise<void> {
  const send = async (part: Iterable<BulkItem>, how: SendOptions) => (await sendBulk(cluster, part, how)).searchable
  if (!(await sendInOrder(items, send, { searchable: true }))) await refresh(cluster, indices)
}

/**
 * Sends the state documents of a batch again, after a loader died while sending them. The documents that they replace are in
 * the store, by themselves or within those that were sent already. All are written, because a document that was found is
 * certain to be in one copy only.
 */
export async function resendState(
  cluster: Cluster,
  documents: readonly StateDocument[],
  { stamp, published }: Stamps,
): Promise<void> {
  const { connection, names } = cluster
  const version = toVersion(stamp)
  const items: BulkItem[] = []
  for (let from = 0; from < documents.length; from += DOCS_AT_ONCE) {
    const part = documents.slice(from, from + DOCS_AT_ONCE)
    const refs = part.map(({ index, doc }) => ({ index: names.into(index), id: toStateId(index, doc.id) }))
    const stored = await getMany(connection, refs, { realtime: true })
    for (const [at, { index, doc }] of part.entries()) {
      const source = stampText(encodeDoc(index, doc), stamp, readFormer(stored[at], published))
      items.push(toVersionedItem(refs[at] as Ref, version, source))
    }
  }
  await sendInOrder(items, async part => (await sendBulk(cluster, part)).searchable)
}

function readFormer(stored: Got | undefined, published: number): Before<string> {
  if (stored === undefined) return { at: published }
  if (stored.version <= toVersion(published)) {
    const { [AT]: _at, [BEFORE]: _before, ...former } = stored.source as DocSource
    return { at: published, doc: JSON.stringify(former) }
  }
  const before = readFormerDoc(stored.source)
  if (before?.at !== published) throw missingData('A document of state does not name what was published before it.')
  return { at: published, doc: before.doc && JSON.stringify(before.doc) }
}

/**
 * Makes sure that versioned writes were carried out. Elasticsearch ignores a write if a higher version is
 * stored or was deleted a moment ago. The document with the higher version is then deleted, and the write is
 * sent again once the deletion is forgotten.
 */
async function forceVersion(sender: Sender, items: readonly BulkItem[], version: number): Promise<void> {
  let left = await findUnwritten(sender, items, version)
  if (left.length === 0) return
  const indices = [...new Set(left.map(({ item }) => item.index))]
  const since = sender.clock.elapsed()
  await forgetDeletes(sender, indices, '0s')
  try {
    for (; left.length > 0; left = await findUnwritten(sender, items, version)) {
      const { index, id } = left[0]?.item ?? {}
      // Elasticsearch keeps the version of a deleted document for a minute (`index.gc_deletes`).
      if (sender.clock.elapsed() - since > 90_000)
        throw new Failure('conflict', `Newer versions of ${index} '${id}' keep appearing.`, {
          help: 'Another program is writing to these indices. Stop it.',
        })
      const conflicting = left.flatMap(({ seen }) => seen ?? [])
      await sendBulk(sender, conflicting)
      await sender.clock.sleep(300)
      await refresh(sender, indices)
      const again = left.map(({ item }) => item)
      await sendBulk(sender, again)
    }
  } finally {
    await forgetDeletes(sender, indices, null)
  }
}

/** `seen` deletes the conflicting document; undefined: only the version of a deleted document conflicts. */
async function findUnwritten(sender: Sender, items: readonly BulkItem[], version: number) {
  const stored = await getMany(sender.connection, items, { realtime: true })
  return items.flatMap((item, at) => {
    const got = stored[at]
    const isDone = item.action === 'delete' ? got === undefined : got?.version === version
    return isDone ? [] : [{ item, seen: got && deleteSeenItem(item, got) }]
  })
}

/** If the user lacks the privilege to change the setting, forgetting takes longer. */
async function forgetDeletes(sender: Sender, indices: readonly string[], after: string | null): Promise<void> {
  const list = indices.join(',')
  await requestText(sender.connection, {
    what: `set ${list}`,
    method: 'PUT',
    path: `/${list}/_settings`,
    body: JSON.stringify({ index: { gc_deletes: after } }),
    timeoutMs: sender.writeTimeoutMs,
    acceptedStatuses: [401, 403],
  })
}

type Ended = Checkpoint & { readonly end: Published }

/** Publishes a checkpoint to readers. A later one stays published. */
export async function publishEnd(cluster: Cluster, checkpoint: Ended): Promise<void> {
  await sendBulk(cluster, [toPublishedItem(cluster.names, checkpoint).item])
}

/** Like `publishEnd`, also if the record was deleted a moment ago or has a later version. */
export async function forcePublish(cluster: Cluster, checkpoint: Ended): Promise<void> {
  const { item, version } = toPublishedItem(cluster.names, checkpoint)
  await sendBulk(cluster, [item])
  await forceVersion(cluster, [item], version)
}

function toPublishedItem(names: Names, checkpoint: Ended): { readonly item: BulkItem; readonly version: number } {
  const { id, version, source } = toPublishedDoc(checkpoint)
  return { item: toVersionedItem({ index: names.meta, id }, version, source), version }
}

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
    toItem('delete', { index: stray ?? storedIn(index, id), id: index.kind === 'state' ? toStateId(index, id) : id }),
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
  const changedIn = [...deletes.map(({ index }) => index), ...put.map(({ index, doc }) => storedIn(index, doc.id))]
  const indices = [...new Set(changedIn)]
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
