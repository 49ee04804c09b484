import type { Change } from '#indices/registry.ts'
import { missingData } from '#store/missing-data.ts'
import type { StateDocument } from '#store/state-port.ts'
import { sendBulk } from '../client/bulk.ts'
import { type BulkItem, versionedItem } from '../client/bulk-item.ts'
import { AT_ONCE, type Got, getMany } from '../client/get-many.ts'
import { refresh } from '../client/refresh.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { type Before, beforeIn, encode, type Source, stampText } from '../schema/documents.ts'
import { AT, BEFORE } from '../schema/mappings.ts'
import type { Names } from '../schema/names.ts'
import { toStateId } from '../schema/state-ids.ts'
import { inOrder } from './in-order.ts'

/** The stamp of a batch, and that of the published height before it; −1: nothing is published. */
type Stamps = { readonly stamp: number; readonly published: number }

/** The stamp of a published end; −1: there is none. */
export function stampOfPublished(published: Parameters<typeof stampOf>[0] | undefined): number {
  return published === undefined ? -1 : stampOf(published)
}

/**
 * Texts of documents. The document that a batch replaces is often one that the previous batch has written, and as long as
 * it is cached as such, its text is, too.
 */
const texts = new WeakMap<object, string>()

/** The writes of the state documents of a batch; newer documents stay. Throws 'defect' on one that cannot be stored. */
export function toItems(names: Names, changes: readonly Change[], { stamp, published }: Stamps): readonly BulkItem[] {
  const version = versionAt(stamp)
  return changes.map(({ index, doc, before }) => {
    const text = encode(index, doc)
    texts.set(doc, text)
    const former = before && (texts.get(before) ?? encode(index, before))
    const source = stampText(text, stamp, { at: published, doc: former })
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
export async function resendState(
  cluster: Cluster,
  documents: readonly StateDocument[],
  { stamp, published }: Stamps,
): Promise<void> {
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
      const source = stampText(encode(index, doc), stamp, formerIn(stored[at], published))
      items.push(versionedItem(ref, version, source))
    })
  }
  const { first, last } = inOrder(items)
  await sendBulk(cluster, first)
  await sendBulk(cluster, last())
}

/** What was published, from what the store has. */
function formerIn(stored: Got | undefined, published: number): Before<string> {
  if (stored === undefined) return { at: published }
  if (stored.version <= versionAt(published)) {
    const { [AT]: _at, [BEFORE]: _before, ...former } = stored.source as Source
    return { at: published, doc: JSON.stringify(former) }
  }
  const before = beforeIn(stored.source)
  if (before?.at !== published) throw missingData('A document of state does not name what was published before it.')
  return { at: published, doc: before.doc && JSON.stringify(before.doc) }
}
