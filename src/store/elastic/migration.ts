import { Failure } from '#failure/failure.ts'
import { contracts } from '#indices/contract.ts'
import type { DocOf } from '#indices/define.ts'
import { type AnyIndex, DERIVATION, historyIndices } from '#indices/registry.ts'
import { unfinishedRepair } from '#store/failures.ts'
import { derivationReasons } from '#store/identity.ts'
import type { MigrationPlan, MigrationPort, ReadPort, Store } from '#store/port.ts'
import type { StateFile } from '#store/state-port.ts'
import { sendBulk, toItem } from './client/bulk.ts'
import { getMany } from './client/read-documents.ts'
import { requestJson } from './client/request.ts'
import { addWriteBlock, refresh, removeWriteBlock } from './client/sender.ts'
import { type Checkpoint, readCheckpoint, readPublished } from './schema/checkpoint.ts'
import { createIndex, describeDifference, readStartedCheckpoint } from './schema/create-indices.ts'
import { decodeDoc } from './schema/documents.ts'
import {
  countEarlierDocuments,
  DERIVED_NAMES,
  type ExistingIndex,
  FORMER_NAMES,
  listIndices,
  readIndexStates,
  updateAliases,
} from './schema/index-states.ts'
import { keysShape, listWantedIndices, SCHEMA } from './schema/mappings.ts'
import {
  type Cluster,
  createNames,
  type Generations,
  KIND,
  type Names,
  type PartitionStarts,
  type ReadCluster,
  STATE_INDICES,
  selectGenerations,
} from './schema/names.ts'
import { formatKey, listKeys } from './write/keys.ts'
import { acquireLease, compareAndSet, type Lease } from './write/lease.ts'

export function openMigration(
  cluster: Cluster,
  {
    source,
    open,
    openBuildingState,
  }: { source: ReadPort; open(building: Generations): Store; openBuildingState(): StateFile },
): MigrationPort<Store> {
  const see = () => planMigration(cluster)
  return {
    source: addFormerContracts(cluster, source),
    plan: async () => (await see()).plan,
    reopen: async () => {
      const seen = await see()
      if (seen.checkpoint.retired !== undefined) await (await takeLease(cluster, seen)).release()
    },
    beside: async () => {
      const seen = await see()
      const names = nameTarget(seen)
      await removeUnusable({ ...cluster, names }, seen)
      return open(names.generations)
    },
    swap: async catchUp => {
      const seen = await see()
      const target = nameTarget(seen)
      const lease = await takeLease(cluster, seen)
      try {
        // Blocks that a dead loader wrote and did not publish are left to the next loader.
        const height = (await readPublished(lease.cluster))?.end.height ?? -1
        await catchUp(height)
        const partitions = await requireWhole({ ...cluster, names: target }, height)
        await swapAliases(lease, { ...lease.cluster, names: target }, { partitions, moveKeys: seen.keysDiffer })
        // The next loader of the store fills its own file.
        openBuildingState().remove()
      } finally {
        // A store that was replaced has no lease to release.
        if (lease.checkpoint().retired === undefined) await lease.release().catch(() => {})
        else lease.stop()
      }
    },
    rollBack: async () => rollBack(cluster, await see()),
    removeLeftovers: async () => {
      const { leftovers } = (await see()).plan
      await deleteIndices(cluster, leftovers)
      return leftovers
    },
  }
}

/**
 * New indices for all documents; API keys stay in their index unless its mapping differs. The new checkpoint contains
 * the generation of the keys from the start, so that the next loader knows which index of keys is served: the one behind
 * the alias, which may have been restored or moved by hand.
 */
function nameTarget({ names, existing, next, keysDiffer }: MigrationState): Names {
  const kept = existing.find(({ of, aliases }) => of === 'keys' && aliases.includes(names.keys))?.generation
  const keys = keysDiffer ? next : (kept ?? names.generations['keys'] ?? 0)
  const documents = [...historyIndices.map(({ name }) => name), ...STATE_INDICES]
  const all = [...documents, 'meta'].map(of => [of, next] as const)
  return createNames(names.prefix, { ...Object.fromEntries(all), ...(keys === 0 ? {} : { keys }) })
}

/**
 * Takes the lease of the served store like a loader, whatever the store's version. From now on no other process writes it.
 * A batch that a dead loader had begun stays as it is, for a rollback. Throws 'conflict' while a loader is alive. If an
 * interrupted migration had closed the store right before its end, the store is reopened.
 */
async function takeLease(cluster: Cluster, { checkpoint, names }: MigrationState): Promise<Lease> {
  const lease = await acquireLease({ ...cluster, names }, checkpoint, (_, { generations, mending }) => {
    if (mending) throw unfinishedRepair(`${cluster.connection.url}/${names.prefix}`)
    if (!Bun.deepEquals(generations, names.generations))
      throw new Failure('conflict', `Another migration of ${names.prefix} has just finished.`)
  })
  try {
    if (lease.checkpoint().retired !== undefined) await lease.set({ retired: undefined })
    // An interrupted migration may have made the API keys read-only.
    await removeWriteBlock(cluster.connection, names.keys)
  } catch (error) {
    await lease.release().catch(() => {})
    throw error
  }
  return lease
}

/** Deletes indices of the next generation unless a migration of this version for this chain began them. */
async function removeUnusable(target: Cluster, { checkpoint, existing, next }: MigrationState): Promise<void> {
  const { names } = target
  const there = existing.filter(({ generation, of }) => generation === next && of !== 'keys')
  const begun = there.some(({ of }) => of === 'meta') ? await readStartedCheckpoint(target) : undefined
  const shapes = new Map(listWantedIndices(names).map(({ of, shape }) => [of, shape]))
  const usable =
    begun !== undefined &&
    begun.retired === undefined &&
    begun.schema === SCHEMA &&
    begun.chainId === checkpoint.chainId &&
    begun.genesis === checkpoint.genesis &&
    begun.derivation === DERIVATION &&
    Bun.deepEquals(begun.generations, names.generations) &&
    there.every(({ of, mapping }) => {
      const shape = shapes.get(of)
      return shape !== undefined && describeDifference(mapping, shape.mappings) === undefined
    })
  if (!usable)
    await deleteIndices(
      target,
      there.map(({ name }) => name),
    )
}

async function deleteIndices({ connection }: ReadCluster, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const what = `remove ${name}`
    await requestJson(connection, { what, method: 'DELETE', path: `/${name}`, acceptedStatuses: [404] })
  }
}

/** Partitions of the new data; throws 'conflict' unless it has every block up to `height`. */
async function requireWhole(target: Cluster, height: number) {
  const { connection, names } = target
  const built = (await readCheckpoint(target))?.checkpoint
  const end = built?.end?.height ?? -1
  if (built === undefined || end < height)
    throw new Failure('conflict', `The new data ends at block ${end}, but the served data ends at block ${height}.`)
  const blocks = historyIndices[0]
  const path = built.partitions.map((_, partition) => names.partition(blocks, partition))
  const counted = await countEarlierDocuments(connection, path, end)
  if (counted !== end + 1)
    throw new Failure('conflict', `The new data has ${counted} blocks up to block ${end}; expected ${end + 1}.`)
  return built.partitions
}

type MigrationState = {
  readonly checkpoint: Checkpoint
  readonly names: Names
  readonly existing: readonly ExistingIndex[]
  readonly plan: MigrationPlan
  /** Whether the mapping of the API keys' index differs from this version's. */
  readonly keysDiffer: boolean
  /** Number of the generation to build. After a rollback, indices of that number may exist, closed; they are built anew. */
  readonly next: number
}

async function planMigration(cluster: ReadCluster): Promise<MigrationState> {
  const { connection } = cluster
  const stored = await readCheckpoint(cluster)
  if (stored === undefined)
    throw new Failure('conflict', `There is nothing to migrate in ${cluster.names.prefix} at ${connection.url}.`, {
      help: "Run: 'iostlens indices create'.",
    })
  const { checkpoint } = stored
  const names = cluster.names.at(checkpoint.generations)
  const existing = await listIndices(cluster)
  const isServed = selectServed(names, checkpoint)
  const differences = listDifferences(names, checkpoint, existing)
  const { derivation, schema } = checkpoint
  const reasons = [
    ...derivationReasons(derivation),
    ...(schema === SCHEMA ? [] : [`documents of schema ${schema}; expected ${SCHEMA}`]),
    ...differences.map(({ reason }) => reason),
  ]
  return {
    checkpoint,
    names,
    existing,
    keysDiffer: differences.some(({ of }) => of === 'keys'),
    next: 1 + Math.max(0, ...Object.values(names.generations)),
    plan: {
      way: reasons.length === 0 ? 'none' : 'derive',
      reasons,
      leftovers: existing
        .filter(index => !isServed(index))
        .map(({ name }) => name)
        .toSorted(),
    },
  }
}

/** API keys are served from the index behind their alias. */
function selectServed(names: Names, { partitions, schema }: Checkpoint): (index: ExistingIndex) => boolean {
  const served = new Set(listWantedIndices(names, partitions).map(({ name }) => name))
  // A loader creates the next partition before it commits its first batch.
  for (const index of historyIndices) served.add(names.partition(index, partitions.length))
  const isOfEarlier = ({ of, generation }: ExistingIndex) =>
    schema !== SCHEMA && FORMER_NAMES.has(of) && generation === (names.generations[of] ?? 0)
  return index =>
    index.of === 'keys' ? index.aliases.includes(names.keys) : served.has(index.name) || isOfEarlier(index)
}

function listDifferences(names: Names, { partitions }: Checkpoint, existing: readonly ExistingIndex[]) {
  return listWantedIndices(names, partitions).flatMap(({ of, name, alias, shape }) => {
    const found = existing.find(each =>
      each.of === 'keys' ? of === 'keys' && each.aliases.includes(alias) : each.name === name,
    )
    // The other indices have no documents of the chain, so creating them is enough.
    if (found === undefined) return DERIVED_NAMES.has(of) ? [{ of, reason: `${name}: does not exist` }] : []
    const detail = describeDifference(found.mapping, shape.mappings)
    return detail === undefined ? [] : [{ of, reason: `${found.name}: ${detail}` }]
  })
}

/**
 * The served data, in which contracts are found where the version that wrote them put them: each kind of state had an index
 * of its own. A migration reads no other kind of state.
 */
function addFormerContracts(cluster: ReadCluster, source: ReadPort): ReadPort {
  return {
    ...source,
    read: (work, how) =>
      source.read(view => {
        const get = async <I extends AnyIndex>(index: I, id: string): Promise<DocOf<I> | undefined> => {
          const stored = index.name === contracts.name ? await readCheckpoint(cluster) : undefined
          if (stored === undefined || stored.checkpoint.schema === SCHEMA) return view.get(index, id)
          const from = cluster.names.at(stored.checkpoint.generations).behind(contracts.name)
          const [found] = await getMany(cluster.connection, [{ index: from, id }], { realtime: false })
          return found && decodeDoc(index, id, { ...found.source, [KIND]: contracts.name })
        }
        return work({ ...view, get })
      }, how),
  }
}

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
  await deleteIndices(target, [to])
  // Callers find it under the alias of API keys once the alias is moved.
  const into = names.own('keys')
  await createIndex(target, { name: to, shape: keysShape, aliases: [into] })
  const keys = await listKeys(target)
  const items = keys.map(({ id, ...key }) => toItem('index', { index: into, id }, JSON.stringify(formatKey(key))))
  await sendBulk(target, items)
  await refresh(target, [to])
  const copies = await listKeys({ connection, names: { ...names, keys: to } })
  if (!Bun.deepEquals(keys, copies))
    throw new Failure('conflict', `${to} has ${copies.length} API keys, ${from} has ${keys.length}.`)
}

/**
 * Serves the new indices instead of the old ones, for all readers at once. First the old checkpoint is closed, so that no
 * loader continues there, however long it was suspended.
 */
async function swapAliases(
  lease: Lease,
  target: Cluster,
  { partitions, moveKeys }: { readonly partitions: PartitionStarts; readonly moveKeys: boolean },
): Promise<void> {
  const { cluster } = lease
  const { names } = cluster
  await lease.set({ retired: readGeneration(target.names) })
  try {
    if (moveKeys) await copyKeys(target)
  } catch (error) {
    // The old indices are still served: loaders may continue with them.
    await removeWriteBlock(cluster.connection, names.keys).catch(() => {})
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
  const what = `swap the aliases of ${names.prefix}`
  await updateAliases(cluster.connection, { what, actions, timeoutMs: cluster.writeTimeoutMs })
}

/**
 * Serves the indices again that the last migration replaced, at the height that was published then. First the newer
 * checkpoint is closed, so that no loader continues there; then all aliases are swapped at once; then the former checkpoint
 * is opened. A batch that was announced and not published then is left to the next loader. May be repeated after a kill at
 * any step. Returns the height of the former checkpoint.
 */
async function rollBack(cluster: Cluster, seen: MigrationState): Promise<number> {
  const { retired } = seen.checkpoint
  // A migration or a rollback was interrupted right before its end: the older indices are served, and closed for newer ones.
  const isInterrupted = retired !== undefined && retired > readGeneration(seen.checkpoint)
  if (!isInterrupted) {
    const former = await findReplaced(cluster, seen)
    if (former === undefined) throw createNothingReplaced(cluster)
    await swapBack(cluster, seen, former)
  }
  return await openServed(cluster)
}

type Replaced = Pick<ExistingIndex, 'generation'> & { readonly checkpoint: Checkpoint }

function readGeneration({ generations }: Pick<Names, 'generations'>): number {
  return generations['meta'] ?? 0
}

/**
 * The generation of indices that the served one has replaced; undefined: it has been deleted, or there was none. A newer one
 * was closed by a rollback.
 */
async function findReplaced(cluster: Cluster, { checkpoint, existing }: MigrationState): Promise<Replaced | undefined> {
  const served = readGeneration(checkpoint)
  for (const { of, generation, name } of existing) {
    if (of !== 'meta' || generation >= served) continue
    const found = await readCheckpoint({ ...cluster, names: { ...cluster.names, meta: name } })
    if (found?.checkpoint.retired === served) return { generation, checkpoint: found.checkpoint }
  }
  return undefined
}

async function swapBack(cluster: Cluster, seen: MigrationState, former: Replaced): Promise<void> {
  const { prefix, served } = cluster.names
  const indices = await requireReplacedWhole(cluster, seen.existing, former.checkpoint)
  const lease = await takeLease(cluster, seen)
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
    const what = `swap the aliases of ${prefix} back`
    await updateAliases(cluster.connection, { what, actions, timeoutMs: cluster.writeTimeoutMs })
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
  const indices = inventory?.indices ?? {}
  const states = await readIndexStates(connection, Object.keys(indices))
  const lost = Object.keys(indices).find(name => states.get(name)?.uuid !== indices[name]?.[0])
  const refuse = (message: string): Failure =>
    new Failure('conflict', message, { help: 'Use the present indices, or restore a snapshot.' })
  if (inventory === undefined || lost !== undefined)
    throw refuse(`The replaced indices of ${names.prefix} are not whole: ${lost ?? 'no list'} is missing.`)
  const former = existing.filter(({ name }) => indices[name] !== undefined)
  const keys = former.find(({ of }) => of === 'keys')
  if (keys !== undefined && !keys.aliases.includes(names.keys))
    throw refuse(`The API keys of ${names.prefix} were moved out of ${keys.name}, which is of another version.`)
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
    // A later generation than the first is not written under the served alias.
    const own = selectGenerations(cluster, checkpoint.generations)
    if ((await compareAndSet(own, { ...checkpoint, owner: '' }, stored)) !== undefined) return height
  }
}

function createNothingReplaced({ connection: { url }, names }: Cluster): Failure {
  return new Failure('conflict', `There are no replaced indices of ${names.prefix} at ${url} to return to.`, {
    help: "They are kept after 'iostlens indices migrate' until '--delete-old' deletes them.",
  })
}
