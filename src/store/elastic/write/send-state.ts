import type { Change } from '#indices/registry.ts'
import type { StateDocument } from '#store/state-port.ts'
import { sendBulk } from '../client/bulk.ts'
import { type BulkItem, versionedItem } from '../client/bulk-item.ts'
import { AT_ONCE, type Got, getMany } from '../client/get-many.ts'
import { refresh } from '../client/refresh.ts'
import { versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { encode, type Source, stampText } from '../schema/documents.ts'
import { AT, BEFORE } from '../schema/mappings.ts'
import type { Names } from '../schema/names.ts'
import { toStateId } from '../schema/state-ids.ts'
import { inOrder } from './in-order.ts'

/**
 * Texts of documents. The document that a batch replaces is often one that the previous batch has written, and as long as
 * it is cached as such, its text is, too.
 */
const texts = new WeakMap<object, string>()

/** The writes of the state documents of a batch; newer documents stay. Throws 'defect' on one that cannot be stored. */
export function toItems(names: Names, changes: readonly Change[], stamp: number): readonly BulkItem[] {
  const version = versionAt(stamp)
  return changes.map(({ index, doc, before }) => {
    const text = encode(index, doc)
    texts.set(doc, text)
    const source = stampText(text, stamp, before && (texts.get(before) ?? encode(index, before)))
    return versionedItem({ index: names.into(index), id: toStateId(index, doc.id) }, version, source)
  })
}

/** Sends state documents and makes them searchable. May be repeated. `indices`: those of the documents. */
export async function sendState(
  cluster: Cluster,
  items: readonly BulkItem[],
  indices: readonly string[],
): Promise<void> {
  const { first, last } = inOrder(items)
  const { searchable } = await sendBulk(cluster, first, { searchable: true })
  const left = last()
  if (left.length > 0) await sendBulk(cluster, left)
  if (!searchable || left.length > 0) await refresh(cluster, indices)
}

/**
 * Sends the state documents of a batch again, after a loader died while sending them. The store has the documents that
 * they replace: as they are, or in those that were sent. All are written, because a document that was found is only in one
 * copy for certain.
 */
export async function resendState(cluster: Cluster, documents: readonly StateDocument[], stamp: number): Promise<void> {
  const { connection, names } = cluster
  const version = versionAt(stamp)
  const items: BulkItem[] = []
  for (let from = 0; from < documents.length; from += AT_ONCE) {
    const part = documents.slice(from, from + AT_ONCE)
    const refs = part.map(({ index, doc }) => ({ index: names.into(index), id: toStateId(index, doc.id) }))
    const stored = await getMany(connection, refs, { realtime: true })
    part.forEach(({ index, doc }, at) => {
      const ref = refs[at]
      if (ref === undefined) return
      const source = stampText(encode(index, doc), stamp, formerText(stored[at], version))
      items.push(versionedItem(ref, version, source))
    })
  }
  const { first, last } = inOrder(items)
  await sendBulk(cluster, first)
  await sendBulk(cluster, last())
}

/** The text of the document that was published, from what the store has. */
function formerText(stored: Got | undefined, version: number): string | undefined {
  if (stored === undefined) return undefined
  const source: Source = stored.source
  if (stored.version >= version) return BEFORE in source ? JSON.stringify(source[BEFORE]) : undefined
  const { [AT]: _at, [BEFORE]: _before, ...former } = source
  return JSON.stringify(former)
}
