import { Failure } from '#failure/failure.ts'
import { sendBulk } from '../client/bulk.ts'
import { indexItem } from '../client/bulk-item.ts'
import { openPit } from '../client/point-in-time.ts'
import { refresh } from '../client/refresh.ts'
import { addWriteBlock, removeWriteBlock } from '../client/write-block.ts'
import type { Cluster } from '../schema/cluster.ts'
import { createIndex } from '../schema/create-indices.ts'
import { deleteIndices } from '../schema/list-indices.ts'
import { keysShape } from '../schema/mappings.ts'

type Hit = { readonly _id: string; readonly _source: object; readonly sort: readonly unknown[] }

const PAGE = 1_000

/**
 * Copies the API keys to their next index. Keys are added and revoked without a lease, so the old index is
 * made read-only first. Until the alias is moved, adding a key fails with the advice to try again.
 */
export const copyKeys = async (target: Cluster): Promise<void> => {
  const { connection, names } = target
  const from = names.keys
  const to = names.behind('keys')
  await addWriteBlock(connection, from)
  await refresh(target, [from])
  await deleteIndices(connection, [to])
  // Callers find it under the alias of API keys once the alias is moved.
  const into = names.own('keys')
  const made = { name: to, shape: keysShape, aliases: [into] }
  await createIndex(target, made)
  const [keys, copies] = [new Map<string, object>(), new Map<string, object>()]
  await readAll(target, from, keys)
  const items = [...keys].map(([id, source]) => indexItem(into, id, JSON.stringify(source)))
  await sendBulk(target, items)
  await refresh(target, [to])
  await readAll(target, to, copies)
  if (!Bun.deepEquals(keys, copies))
    throw new Failure('conflict', `${to} has ${copies.size} API keys, ${from} has ${keys.size}.`)
}

/** Allows adding keys again after a migration was interrupted right before its end. */
export const allowKeyWrites = ({ connection, names }: Cluster): Promise<void> =>
  removeWriteBlock(connection, names.keys)

const readAll = async ({ connection }: Cluster, index: string, into: Map<string, object>): Promise<void> => {
  const pit = await openPit(connection, [index])
  try {
    for (let after: readonly unknown[] | undefined; ; ) {
      const { hits } = await pit.search<{ hits: { hits: readonly Hit[] } }>({
        size: PAGE,
        track_total_hits: false,
        sort: [{ _shard_doc: 'asc' }],
        search_after: after,
      })
      for (const { _id, _source } of hits.hits) into.set(_id, _source)
      after = hits.hits.at(-1)?.sort
      if (after === undefined) return
    }
  } finally {
    await pit.close().catch(() => {})
  }
}
