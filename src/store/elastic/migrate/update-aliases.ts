import { Failure } from '#failure/failure.ts'
import { ask } from '../client/ask.ts'
import { sendBulk } from '../client/bulk.ts'
import { versionedItem } from '../client/bulk-item.ts'
import { publishedDoc, readCheckpoint } from '../schema/checkpoint.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { listIndices } from '../schema/list-indices.ts'
import { SCHEMA } from '../schema/mappings.ts'
import type { Partitions } from '../schema/partitions.ts'
import { wantedIndices } from '../schema/wanted-indices.ts'
import { compareAndSet } from '../write/compare-and-set.ts'
import type { Lease } from '../write/keep-lease.ts'
import { takeInventory } from '../write/take-inventory.ts'
import { allowKeyWrites, moveKeys } from './move-keys.ts'

/** Indices without documents of the chain: each migration creates them anew. */
export const CONTROL = ['meta', 'journal'] as const

/** Writes checkpoint and published height of the new indices; they count once these are served. */
export const writeBuiltCheckpoint = async (target: Cluster, from: Checkpoint): Promise<void> => {
  const { names } = target
  const { generations } = names
  // Batches before the migration cannot be taken back: their journal stays behind.
  const { write: _, retired: __, undo: ___, ...kept } = from
  // A new name, so that readers that know the height under the old name read again.
  const batch = crypto.randomUUID()
  const inventory = await takeInventory(target, { partitions: from.partitions, batch })
  const next = { ...kept, schema: SCHEMA, generations, owner: '', batch, parts: 0, inventory }
  const stored = await readCheckpoint(target)
  if ((await compareAndSet(target, next, stored)) === undefined)
    throw new Failure('conflict', `Another program is writing to ${names.meta}, which is being built.`)
  if (from.end === undefined) return
  const meta = { end: from.end, batch, partitions: from.partitions, generations, lift: from.lift, inventory }
  const { id, version, source } = publishedDoc(meta)
  await sendBulk(target, [versionedItem({ index: names.meta, id }, version, source)])
}

/**
 * Serves the new indices instead of the old ones, for all readers at the same moment. First the old checkpoint is
 * closed for good: no loader continues there, however long it slept. `confirm` throws if the new indices are not up to
 * date.
 */
export const swap = async (
  lease: Lease,
  target: Cluster,
  {
    partitions,
    changed,
    confirm,
  }: {
    /** Of the new indices. */
    readonly partitions: Partitions
    readonly changed: ReadonlySet<string>
    readonly confirm: () => Promise<void>
  },
): Promise<void> => {
  const { cluster } = lease
  const { names } = cluster
  await lease.set({ retired: target.names.generations['meta'] ?? 0 })
  try {
    await confirm()
    if (changed.has('keys')) await moveKeys(target)
  } catch (error) {
    // The old indices are still served: loaders may continue with them.
    await allowKeyWrites(cluster).catch(() => {})
    await lease.set({ retired: undefined }).catch(() => {})
    throw error
  }
  const moved = (of: string): boolean => changed.has(of) || CONTROL.some(name => name === of)
  const old = (await listIndices(cluster)).filter(
    ({ of, aliases }) => moved(of) && aliases.includes(names.served(of)),
  )
  const built = wantedIndices(target.names, partitions).filter(({ of }) => moved(of))
  const actions = [
    ...old.map(({ of, name }) => ({ remove: { index: name, alias: names.served(of), must_exist: false } })),
    ...built.map(({ of, name }) => ({
      // Documents are written under the alias of their generation, never under the served one.
      add: { index: name, alias: names.served(of), is_write_index: false },
    })),
    ...(changed.has('keys')
      ? [{ add: { index: target.names.behind('keys'), alias: target.names.keys, is_write_index: true } }]
      : []),
  ]
  await ask(cluster.connection, {
    what: `swap the aliases of ${names.prefix}`,
    method: 'POST',
    path: '/_aliases',
    body: JSON.stringify({ actions }),
    timeoutMs: cluster.writeTimeoutMs,
  })
}
