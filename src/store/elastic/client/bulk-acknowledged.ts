import { Failure } from '#failure/failure.ts'
import { sendBulk } from './bulk.ts'
import { type BulkItem, createItem, rewriteSeenItem } from './bulk-item.ts'
import { type Got, getMany } from './get-many.ts'
import type { Sender } from './sender.ts'
import { tryAgain } from './sender.ts'

/**
 * Sends every item until each document has been acknowledged by a write. An existing document proves only
 * that one copy has it. An attempt whose answer was lost may still be on its way to the other copies, and if
 * the only copy dies, the document is gone. So an existing document is compared and then rewritten, with
 * compare-and-set on the version that was read; an acknowledged write is in every copy. Throws 'conflict' on
 * a document with different content. Returns `BulkResult.searchable`.
 */
export const sendAcknowledged = async (
  sender: Sender,
  items: Iterable<BulkItem>,
  options: { readonly searchable?: boolean } = {},
): Promise<boolean> => {
  const { existing, searchable } = await sendBulk(sender, items, options)
  if (existing.length === 0) return searchable
  await acknowledge(sender, existing)
  return false
}

const acknowledge = async (sender: Sender, existing: readonly BulkItem[]): Promise<void> => {
  let unclear = existing
  await tryAgain(sender, async () => {
    // A loader that was replaced may be reading the next loader's documents.
    sender.requireLease?.()
    const stored = await getMany(sender.connection, unclear, { realtime: true })
    const again = unclear.map((item, at) => againOf(item, stored[at]))
    const { existing: left } = await sendBulk(sender, again)
    const [first] = left
    if (first === undefined) return { done: undefined }
    const progress = left.length < unclear.length
    unclear = left
    // The version that was read is out of date: a rewrite's answer was lost, or the copy lags.
    return {
      retryReason: `${first.index} '${first.id}' is not acknowledged yet.`,
      anew: progress ? 'timeout' : undefined,
    }
  })
}

/** The write to be acknowledged, in place of a write that found an existing document. */
const againOf = (item: BulkItem, got: Got | undefined): BulkItem => {
  const { index, id, source = '{}' } = item
  // The only copy with the document is gone, or this copy does not have it yet.
  if (got === undefined) return createItem(index, id, source)
  // Both sides have the field order of the definitions.
  if (JSON.stringify(got.source) === JSON.stringify(JSON.parse(source))) return rewriteSeenItem(item, got)
  throw new Failure('conflict', `Another loader wrote ${index} '${id}' with different content.`, {
    help: "Stop the other loader, then restart this one. If none is running, one had loaded from another node: run 'iostlens repair --node URL'.",
  })
}
