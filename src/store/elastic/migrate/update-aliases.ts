import { requestJson } from '../client/request-json.ts'
import type { Cluster } from '../schema/cluster.ts'
import { listIndices } from '../schema/list-indices.ts'
import type { Partitions } from '../schema/partitions.ts'
import { wantedIndices } from '../schema/wanted-indices.ts'
import type { Lease } from '../write/keep-lease.ts'
import { allowKeyWrites, copyKeys } from './copy-keys.ts'

/**
 * Serves the new indices instead of the old ones, for all readers at once. First the old checkpoint is closed
 * for good, so that no loader continues there, however long it was suspended.
 */
export const swap = async (
  lease: Lease,
  target: Cluster,
  { partitions, moveKeys }: { readonly partitions: Partitions; readonly moveKeys: boolean },
): Promise<void> => {
  const { cluster } = lease
  const { names } = cluster
  await lease.set({ retired: target.names.generations['meta'] ?? 0 })
  try {
    if (moveKeys) await copyKeys(target)
  } catch (error) {
    // The old indices are still served: loaders may continue with them.
    await allowKeyWrites(cluster).catch(() => {})
    await lease.set({ retired: undefined }).catch(() => {})
    throw error
  }
  const old = (await listIndices(cluster)).filter(
    ({ of, aliases }) => (of !== 'keys' || moveKeys) && aliases.includes(names.served(of)),
  )
  const built = wantedIndices(target.names, partitions).filter(({ of }) => of !== 'keys')
  const actions = [
    ...old.map(({ of, name }) => ({ remove: { index: name, alias: names.served(of), must_exist: false } })),
    ...built.map(({ of, name }) => ({
      // Documents are written under the alias of their generation, never under the served alias.
      add: { index: name, alias: names.served(of), is_write_index: false },
    })),
    ...(moveKeys
      ? [{ add: { index: target.names.behind('keys'), alias: target.names.keys, is_write_index: true } }]
      : []),
  ]
  await requestJson(cluster.connection, {
    what: `swap the aliases of ${names.prefix}`,
    method: 'POST',
    path: '/_aliases',
    body: JSON.stringify({ actions }),
    timeoutMs: cluster.writeTimeoutMs,
  })
}
