import { Failure } from '#failure/failure.ts'
import { type HistoryIndex, historyIndices } from '#indices/registry.ts'
import { formatReason, parseError, requestJson, requestText } from '../client/request.ts'
import {
  addHelp,
  awaitStarted,
  checkIndices,
  compareMapping,
  formatExclusion,
  formatLabel,
  readStartedCheckpoint,
  refuseDifferent,
  requireEmptyStore,
} from './check-indices.ts'
import { readCheckpoint } from './checkpoint.ts'
import { readIndexStates, updateAliases } from './index-states.ts'
import { type IndexShape, listWantedIndices, type StoredMapping, toShape, type WantedIndex } from './mappings.ts'
import type { Cluster, Names, ReadCluster } from './names.ts'

/**
 * Creates missing indices. Safe to repeat, also concurrently. `repair` also creates indices whose data is
 * lost, for a repair to fill.
 */
export async function createIndices(
  cluster: Cluster,
  { repair = false }: { readonly repair?: boolean } = {},
): Promise<void> {
  const { connection, names, clock } = cluster
  const begun = await readStartedCheckpoint(cluster)
  if (begun !== undefined) await showHidden(cluster)
  if (!repair) await refuseLost(cluster)
  const differences = await checkIndices(cluster)
  refuseDifferent(connection, differences)
  const missing = new Set(differences.map(({ name }) => name))
  if (missing.size > 0 && begun === undefined) await awaitStarted(() => requireEmptyStore(cluster), clock)
  // In parallel, because Elasticsearch combines the requests into one change of the cluster state.
  await Promise.all(
    listWantedIndices(names.at(begun?.checkpoint.generations), begun?.checkpoint.partitions)
      .filter(wanted => missing.has(formatLabel(names, wanted)))
      .map(wanted => createIndex(cluster, toCreated(wanted))),
  )
  await readStartedCheckpoint(cluster)
  const left = await checkIndices(cluster)
  refuseDifferent(connection, left)
  if (left.length > 0)
    throw new Failure('conflict', `Still missing: ${left.map(({ detail }) => detail).join('; ')}.`, {
      help: "An index without its alias is in the way. Run: 'iostlens indices check'.",
    })
}

/** Throws 'damaged' if an index with loaded data is gone, because an empty one would not replace it. */
export async function refuseLost(cluster: ReadCluster): Promise<void> {
  const { connection, names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  if (stored === undefined) return
  const { end, generations, partitions, inventory } = stored
  const loaded = listWantedIndices(names.at(generations), partitions).filter(
    ({ name, from }) => inventory?.indices[name] !== undefined || (from !== undefined && end !== undefined),
  )
  const existing = await readIndexStates(
    connection,
    loaded.map(({ name }) => name),
  )
  const lost = loaded.filter(({ name }) => !existing.has(name))
  if (lost.length === 0) return
  const list = lost.map(({ name, from }) => (from === undefined ? name : `${name} (blocks from ${from} on)`))
  throw new Failure('damaged', `Indices with loaded data are missing at ${connection.url}: ${list.join(', ')}.`, {
    help: "Restore it from a snapshot, run 'iostlens repair', or run 'iostlens load' with another --store.",
  })
}

/** Restores lost aliases of loaded indices. */
async function showHidden(cluster: ReadCluster): Promise<void> {
  const { connection, names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  if (stored?.inventory === undefined) return
  const { inventory, generations, partitions } = stored
  const wanted = listWantedIndices(names.at(generations), partitions)
  const existing = await readIndexStates(connection, Object.keys(inventory.indices))
  const actions = wanted.flatMap(({ name, alias, into }): readonly object[] => {
    const found = existing.get(name)
    if (found === undefined || found.uuid !== inventory.indices[name]?.[0]) return []
    return [...new Set([alias, into])]
      .filter(each => !found.aliases.has(each))
      .map(each => ({ add: { index: name, alias: each } }))
  })
  if (actions.length === 0) return
  await updateAliases(connection, { what: `put indices of ${names.prefix} behind their aliases`, actions })
}

/** The index with the aliases for readers and writers. */
function toCreated({ alias, into, ...wanted }: WantedIndex) {
  return {
    ...wanted,
    aliases: [...new Set([alias, into])],
  }
}

/** Creates an index unless it exists. */
export async function createIndex(
  { connection, names, replicas, writeTimeoutMs }: Cluster,
  { name, shape, aliases }: Pick<WantedIndex, 'name' | 'shape'> & { readonly aliases: readonly string[] },
): Promise<void> {
  const answer = await requestText(connection, {
    what: `create ${name}`,
    method: 'PUT',
    path: `/${name}`,
    body: JSON.stringify(formatIndex(shape, aliases, replicas)),
    timeoutMs: writeTimeoutMs,
    acceptedStatuses: [400],
  })
  const error = parseError(answer)
  // Another process, or an earlier attempt whose answer was lost, has created the index meanwhile.
  if (answer.status === 400 && error.type !== 'resource_already_exists_exception')
    throw new Failure('unavailable', `${connection.url} refused to create ${name} (400): ${formatReason(error)}.`, {
      retryable: false,
      details: { status: 400, ...(error.type === undefined ? {} : { type: error.type }) },
      help: `Mend what the reason names. A limit or setting that is not one of the whole cluster comes from an index template. ${formatExclusion(connection.url, names.prefix)}`,
    })
}

function formatIndex(shape: IndexShape, aliases: readonly string[], replicas: number) {
  return {
    settings: { index: { ...shape.settings.index, number_of_replicas: replicas } },
    mappings: shape.mappings,
    aliases: Object.fromEntries(aliases.map(alias => [alias, {}])),
  }
}

/**
 * Creates the indices of a new partition, or continues with those of a dead loader. The indices stay hidden
 * from readers, because a search over all partitions fails while one of them has no active copy.
 */
export async function createPartition(cluster: Cluster, partition: number): Promise<void> {
  const { connection, names } = cluster
  const wanted = historyIndices.map(index => ({
    name: names.partition(index, partition),
    shape: toShape(index),
    aliases: [names.intoPartition(index, partition)],
  }))
  await Promise.all(wanted.map(each => createIndex(cluster, each)))
  const found = await requestJson<Readonly<Record<string, { readonly mappings: StoredMapping }>>>(connection, {
    what: `read partition ${partition} of ${names.prefix}`,
    method: 'GET',
    path: `/${wanted.map(({ name }) => name).join(',')}/_mapping`,
  })
  const differences = wanted.flatMap(({ name, shape }) =>
    compareMapping({ name, index: name }, found[name]?.mappings ?? {}, shape.mappings),
  )
  refuseDifferent(connection, addHelp(cluster, differences, 'nothing'))
  await addPartitionAliases(cluster, partition, index => [names.intoPartition(index, partition)])
}

/** The readers' aliases of an index, which cover all its partitions. */
function listReaderAliases(names: Names, { name }: HistoryIndex): readonly string[] {
  return names.building ? [names.own(name)] : [...new Set([names.own(name), names.served(name)])]
}

/** Adds a partition to the readers' aliases, after its indices were written and refreshed. */
export async function showPartition(cluster: ReadCluster, partition: number): Promise<void> {
  const { names } = cluster
  await addPartitionAliases(cluster, partition, index => listReaderAliases(names, index))
}

/** Adds the indices of a partition to aliases; idempotent. */
async function addPartitionAliases(
  cluster: ReadCluster,
  partition: number,
  aliases: (index: HistoryIndex) => readonly string[],
): Promise<void> {
  const { connection, names } = cluster
  const actions = historyIndices.flatMap(index =>
    aliases(index).map(alias => ({ add: { index: names.partition(index, partition), alias } })),
  )
  await updateAliases(connection, { what: `show partition ${partition} of ${names.prefix}`, actions })
}
