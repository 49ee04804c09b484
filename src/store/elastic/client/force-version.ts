import { Failure } from '#failure/failure.ts'
import { askText } from './ask.ts'
import { sendBulk } from './bulk.ts'
import { type BulkItem, deleteSeenItem } from './bulk-item.ts'
import { getMany } from './get-many.ts'
import { refresh } from './refresh.ts'
import type { Sender } from './sender.ts'

/** Elasticsearch remembers the version of a deleted document for a minute (`index.gc_deletes`). */
const PATIENCE_MS = 90_000
const WAIT_MS = 300

/**
 * Makes sure that versioned writes were carried out: one is passed over where a higher version stands, or stood and was
 * deleted by somebody a moment ago. What stands is then deleted, its memory waited for, and the write sent again.
 */
export const forceVersion = async (
  sender: Sender,
  items: readonly BulkItem[],
  version: number,
): Promise<void> => {
  let left = await stubborn(sender, items, version)
  if (left.length === 0) return
  const indices = [...new Set(left.map(({ item }) => item.index))]
  const since = sender.clock.now()
  await forgetDeletes(sender, indices, '0s')
  try {
    for (; left.length > 0; left = await stubborn(sender, items, version)) {
      if (sender.clock.now() - since > PATIENCE_MS)
        throw new Failure(
          'conflict',
          `Newer versions of ${left[0]?.item.index} '${left[0]?.item.id}' keep appearing.`,
          {
            help: 'Another program is writing to these indices. Stop it.',
          },
        )
      await sendBulk(
        sender,
        left.flatMap(({ seen }) => (seen === undefined ? [] : [seen])),
      )
      await sender.clock.sleep(WAIT_MS)
      await refresh(sender, indices)
      await sendBulk(
        sender,
        left.map(({ item }) => item),
      )
    }
  } finally {
    await forgetDeletes(sender, indices, null)
  }
}

type Stubborn = {
  readonly item: BulkItem
  /** Deletes what stands in the way; undefined: only a memory does. */
  readonly seen: BulkItem | undefined
}

const stubborn = async (
  sender: Sender,
  items: readonly BulkItem[],
  version: number,
): Promise<readonly Stubborn[]> => {
  const stored = await getMany(sender.connection, items, { realtime: true })
  return items.flatMap((item, at) => {
    const got = stored[at]
    const done = item.action === 'delete' ? got === undefined : got?.version === version
    if (done) return []
    const seen = got === undefined ? undefined : deleteSeenItem(item, got)
    return [{ item, seen }]
  })
}

/** Not allowed to: it is waited for longer. */
const forgetDeletes = async (
  sender: Sender,
  indices: readonly string[],
  after: string | null,
): Promise<void> => {
  const list = indices.join(',')
  await askText(sender.connection, {
    what: `set ${list}`,
    method: 'PUT',
    path: `/${list}/_settings`,
    body: JSON.stringify({ index: { gc_deletes: after } }),
    timeoutMs: sender.writeTimeoutMs,
    also: [401, 403],
  })
}
