import { Failure } from '#failure/failure.ts'
import { indexItem, sendBulk } from '../client/bulk.ts'
import { openPit, type SortedHits } from '../client/read-documents.ts'
import { addWriteBlock, refresh, removeWriteBlock } from '../client/sender.ts'
import { type Checkpoint, readCheckpoint } from '../schema/checkpoint.ts'
import { createIndex } from '../schema/create-indices.ts'
import {
  deleteIndices,
  type ExistingIndex,
  listIndices,
  readIndexStates,
  updateAliases,
} from '../schema/index-states.ts'
import { keysShape, listWantedIndices } from '../schema/mappings.ts'
import type { Cluster, PartitionStarts } from '../schema/names.ts'
import { compareAndSet, type Lease } from '../write/lease.ts'
import type { MigrationState } from './plan-migration.ts'

const PAGE = 1_000

/**
 * Copies the API keys to their next index. Keys are added and revoked without a lease, so the old index is
 * made read-only first. Until the alias is moved, adding a key fails with the advice to try again.
 */
async function copyKeys(target: Cluster): Promise<void> {
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
  await readKeys(target, from, keys)
  const items = [...keys].map(([id, source]) => indexItem(into, id, JSON.stringify(source)))
  await sendBulk(target, items)
  await refresh(target, [to])
  await readKeys(target, to, copies)
  if (!Bun.deepEquals(keys, copies))
    throw new Failure('conflict', `${to} has ${copies.size} API keys, ${from} has ${keys.size}.`)
}

/** Allows adding keys again after a migration was interrupted right before its end. */
export function allowKeyWrites({ connection, names }: Cluster): Promise<void> {
  return removeWriteBlock(connection, names.keys)
}

async function readKeys({ connection }: Cluster, index: string, into: Map<string, object>): Promise<void> {
  const pit = await openPit(connection, [index])
  try {
    for (let after: readonly unknown[] | undefined; ; ) {
      const { hits } = await pit.search<SortedHits>({
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

/**
 * Serves the new indices instead of the old ones, for all readers at once. First the old checkpoint is closed, so that no
 * loader continues there, however long it was suspended.
 */
export async function swapAliases(
  lease: Lease,
  target: Cluster,
  { partitions, moveKeys }: { readonly partitions: PartitionStarts; readonly moveKeys: boolean },
): Promise<void> {
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
  const built = listWantedIndices(target.names, partitions).filter(({ of }) => of !== 'keys')
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
  await updateAliases(cluster.connection, {
    what: `swap the aliases of ${names.prefix}`,
    actions,
    timeoutMs: cluster.writeTimeoutMs,
  })
}

/**
 * Serves the indices again that the last migration replaced, at the height that was published then. First the newer
 * checkpoint is closed, so that no loader continues there; then all aliases are swapped at once; then the former checkpoint
 * is opened. A batch that was announced and not published then is left to the next loader. May be repeated after a kill at
 * any step. Returns the height of the former checkpoint.
 */
export async function rollBack(
  cluster: Cluster,
  seen: MigrationState,
  takeLease: () => Promise<Lease>,
): Promise<number> {
  const served = readGeneration(seen.checkpoint)
  const former = await findReplaced(cluster, seen)
  // A migration or a rollback was interrupted right before its end: the older indices are served, and closed.
  const isInterrupted = seen.checkpoint.retired !== undefined && (former?.generation ?? served) >= served
  if (!isInterrupted) {
    if (former === undefined || former.generation > served) throw createNothingReplaced(cluster)
    await swapBack(cluster, { seen, former, takeLease })
  }
  return await openServed(cluster)
}

type Replaced = Pick<ExistingIndex, 'generation'> & { readonly checkpoint: Checkpoint }

function readGeneration({ generations }: Checkpoint): number {
  return generations?.['meta'] ?? 0
}

/** The generation of indices that the served one has replaced; undefined: it has been deleted, or there was none. */
async function findReplaced(cluster: Cluster, { checkpoint, existing }: MigrationState): Promise<Replaced | undefined> {
  const served = readGeneration(checkpoint)
  for (const { of, generation, name } of existing) {
    if (of !== 'meta' || generation === served) continue
    const found = await readCheckpoint({ ...cluster, names: { ...cluster.names, meta: name } })
    if (found?.checkpoint.retired === served) return { generation, checkpoint: found.checkpoint }
  }
  return undefined
}

type SwapBackParts = {
  readonly seen: MigrationState
  readonly former: Replaced
  readonly takeLease: () => Promise<Lease>
}

async function swapBack(cluster: Cluster, { seen, former, takeLease }: SwapBackParts): Promise<void> {
  const { prefix, served } = cluster.names
  const indices = await requireReplacedWhole(cluster, seen.existing, former.checkpoint)
  const lease = await takeLease()
  try {
    await lease.set({ retired: former.generation })
    const replaced = seen.existing.filter(({ of, aliases }) => of !== 'keys' && aliases.includes(served(of)))
    const actions = [
      ...replaced.map(({ of, name }) => ({ remove: { index: name, alias: served(of), must_exist: false } })),
      ...indices.map(({ of, name, generation }) => ({
        // The first generation is written under the served aliases, a later one under its own.
        add: { index: name, alias: served(of), ...(generation === 0 ? {} : { is_write_index: false }) },
      })),
    ]
    await updateAliases(cluster.connection, {
      what: `swap the aliases of ${prefix} back`,
      actions,
      timeoutMs: cluster.writeTimeoutMs,
    })
  } finally {
    lease.stop()
  }
}

/** The former indices. Throws 'conflict' unless all of them exist, and the API keys are still in their former index. */
async function requireReplacedWhole(
  { connection, names }: Cluster,
  existing: readonly ExistingIndex[],
  { inventory }: Checkpoint,
): Promise<readonly ExistingIndex[]> {
  const holdings = Object.entries(inventory?.indices ?? {})
  const states = await readIndexStates(
    connection,
    holdings.map(([name]) => name),
  )
  const [lost] = holdings.find(([name, [uuid]]) => states.get(name)?.uuid !== uuid) ?? []
  if (inventory === undefined || lost !== undefined)
    throw new Failure(
      'conflict',
      `The replaced indices of ${names.prefix} are not whole: ${lost ?? 'no list'} is missing.`,
      {
        help: 'Use the present indices, or restore a snapshot.',
      },
    )
  const former = existing.filter(({ name }) => inventory.indices[name] !== undefined)
  const keys = former.find(({ of }) => of === 'keys')
  if (keys !== undefined && !keys.aliases.includes(names.keys))
    throw new Failure(
      'conflict',
      `The API keys of ${names.prefix} were moved out of ${keys.name}, which is of another version.`,
      {
        help: 'Use the present indices, or restore a snapshot.',
      },
    )
  return former.filter(({ of }) => of !== 'keys')
}

/** Lets loaders continue with the served indices; returns the height of their checkpoint. */
async function openServed(cluster: Cluster): Promise<number> {
  for (;;) {
    const stored = await readCheckpoint(cluster)
    if (stored === undefined) throw createNothingReplaced(cluster)
    const { write: _, retired, ...checkpoint } = stored.checkpoint
    const height = checkpoint.end?.height ?? -1
    if (retired === undefined) return height
    if ((await compareAndSet(cluster, { ...checkpoint, owner: '' }, stored)) !== undefined) return height
  }
}

function createNothingReplaced({ connection: { url }, names }: Cluster): Failure {
  return new Failure('conflict', `There are no replaced indices of ${names.prefix} at ${url} to return to.`, {
    help: "They are kept after 'iostlens indices migrate' until '--delete-old' deletes them.",
  })
}
