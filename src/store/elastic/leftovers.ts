import { historyIndices } from '#indices/registry.ts'
import { askHits } from './ask.ts'
import { type Bulk, sendBulk } from './bulk.ts'
import { deleteSeenItem } from './bulk-item.ts'
import { HEIGHT } from './mappings.ts'
import type { Checkpoint } from './meta.ts'
import type { Names } from './names.ts'
import { refresh } from './refresh.ts'

type Hit = {
  readonly _index: string
  readonly _id: string
  readonly _seq_no: number
  readonly _primary_term: number
}

const AT_ONCE = 5000
const MAY_BE_MISSING = { ignore_unavailable: 'true' }

/**
 * Removes history documents above the checkpoint: a dead loader wrote them and did not come to commit them. They stand
 * in the last partition, or in the one it was about to open. Without a checkpoint they may stand anywhere.
 */
export const removeHistoryAbove = async (
  bulk: Bulk,
  names: Names,
  { end, partitions }: Pick<Checkpoint, 'end' | 'partitions'>,
): Promise<void> => {
  const next = partitions.length
  const indices = historyIndices.flatMap(index => [
    end === undefined ? names.history(index) : names.partition(index, next - 1),
    names.partition(index, next),
  ])
  await remove(bulk, indices, { range: { [HEIGHT]: { gt: end?.height ?? -1 } } })
}

/** Removes journals that no checkpoint names. */
export const removeJournalsBut = (bulk: Bulk, names: Names, batch: string): Promise<void> =>
  remove(bulk, [names.journal], { bool: { must_not: { term: { batch } } } })

/**
 * Deletes by listed ids, and each document only as it was listed: a delayed delete can not hit a later one. Indices may
 * be missing.
 */
const remove = async (bulk: Bulk, indices: readonly string[], query: object): Promise<void> => {
  for (;;) {
    await refresh(bulk, indices, MAY_BE_MISSING)
    const hits = await askHits<Hit>(bulk.connection, {
      what: `search ${indices.join(',')}`,
      method: 'POST',
      path: `/${indices.join(',')}/_search`,
      query: { allow_partial_search_results: 'false', ...MAY_BE_MISSING },
      body: JSON.stringify({
        size: AT_ONCE,
        _source: false,
        seq_no_primary_term: true,
        track_total_hits: false,
        sort: ['_doc'],
        query: { bool: { filter: [query] } },
      }),
      timeoutMs: bulk.timeoutMs,
    })
    if (hits.length === 0) return
    const items = hits.map(hit => deleteSeenItem(hit._index, hit._id, hit._seq_no, hit._primary_term))
    await sendBulk(bulk, items)
  }
}
