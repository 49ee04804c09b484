import { Failure } from '#failure/failure.ts'
import { sendBulk } from './bulk.ts'
import { type BulkItem, createItem, rewriteSeenItem } from './bulk-item.ts'
import { type Got, getMany } from './get-many.ts'
import type { Sender } from './sender.ts'
import { tryAgain } from './try-again.ts'

/**
 * Carries out every item so that each document has been acknowledged by a write. That a document exists already says
 * one copy of it only: a try whose answer was lost may still be on its way to the others, and when the copy that has it
 * dies, it is gone. So what is met is compared and then written once more over the very copy that was seen; an
 * acknowledged write is in every copy there is. Throws 'conflict' on a document with other content.
 */
export const sendAcknowledged = async (sender: Sender, items: Iterable<BulkItem>): Promise<void> => {
  let unclear = await sendBulk(sender, items)
  if (unclear.length === 0) return
  await tryAgain(sender, async () => {
    // One who was replaced may have met what the next loader wrote.
    sender.requireLease?.()
    const stored = await getMany(sender.connection, unclear, { realtime: true })
    const again = unclear.map((item, at) => againOf(item, stored[at]))
    const left = await sendBulk(sender, again)
    const [first] = left
    if (first === undefined) return { done: undefined }
    const progress = left.length < unclear.length
    unclear = left
    // A rewrite whose answer was lost, or a copy that lags: what was seen is not what stands.
    return {
      again: `${first.index} '${first.id}' is not acknowledged yet.`,
      anew: progress ? 'patience' : undefined,
    }
  })
}

/** The write that is to be acknowledged in place of one that met a document. */
const againOf = (item: BulkItem, got: Got | undefined): BulkItem => {
  const { index, id, source = '{}' } = item
  // Gone with the copy that alone had it, or not come to the copy that was asked.
  if (got === undefined) return createItem(index, id, source)
  // Field order is that of the definitions on both sides.
  if (JSON.stringify(got.source) === JSON.stringify(JSON.parse(source))) return rewriteSeenItem(item, got)
  throw new Failure('conflict', `Another loader wrote ${index} '${id}' with different content.`, {
    help: 'Stop the other loader, then restart this one.',
  })
}
