import { Failure } from '#failure/failure.ts'
import { sendBulk } from './bulk.ts'
import { type BulkItem, deleteSeenItem } from './bulk-item.ts'
import { getMany } from './get-many.ts'
import { refresh } from './refresh.ts'
import { requestText } from './request-json.ts'
import type { Sender } from './sender.ts'

/** Elasticsearch keeps the version of a deleted document for a minute (`index.gc_deletes`). */
const TIMEOUT_MS = 90_000
const WAIT_MS = 300

/**
 * Makes sure that versioned writes were carried out. Elasticsearch ignores a write if a higher version is
 * stored or was deleted a moment ago. The document with the higher version is then deleted, and the write is
 * sent again once the deletion is forgotten.
 */
export const forceVersion = async (sender: Sender, items: readonly BulkItem[], version: number): Promise<void> => {
  let left = await unwritten(sender, items, version)
  if (left.length === 0) return
  const indices = [...new Set(left.map(({ item }) => item.index))]
  const since = sender.clock.elapsed()
  await forgetDeletes(sender, indices, '0s')
  try {
    for (; left.length > 0; left = await unwritten(sender, items, version)) {
      if (sender.clock.elapsed() - since > TIMEOUT_MS)
        throw new Failure(
          'conflict',
          `Newer versions of ${left[0]?.item.index} '${left[0]?.item.id}' keep appearing.`,
          { help: 'Another program is writing to these indices. Stop it.' },
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

type Unwritten = {
  readonly item: BulkItem
  /** Deletes the conflicting document; undefined: only the version of a deleted document conflicts. */
  readonly seen: BulkItem | undefined
}

const unwritten = async (
  sender: Sender,
  items: readonly BulkItem[],
  version: number,
): Promise<readonly Unwritten[]> => {
  const stored = await getMany(sender.connection, items, { realtime: true })
  return items.flatMap((item, at) => {
    const got = stored[at]
    const done = item.action === 'delete' ? got === undefined : got?.version === version
    if (done) return []
    const seen = got === undefined ? undefined : deleteSeenItem(item, got)
    return [{ item, seen }]
  })
}

/** If the user lacks the privilege to change the setting, forgetting takes longer. */
const forgetDeletes = async (sender: Sender, indices: readonly string[], after: string | null): Promise<void> => {
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
