import { Failure } from '#failure/failure.ts'
import { errorOf, reasonOf } from '../client/failures.ts'
import { requestJson, requestText } from '../client/request-json.ts'
import { checkIndices, excludeFrom, labelOf, refuseDifferent } from './check-indices.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Cluster, ReadCluster } from './cluster.ts'
import { indexStates } from './index-states.ts'
import type { IndexShape } from './mappings.ts'
import { movedKeys } from './moved-keys.ts'
import { requireEmptyStore } from './require-empty.ts'
import { onceStarted, startedCheckpoint } from './wait-for-shards.ts'
import { type Wanted, wantedIndices } from './wanted-indices.ts'

/**
 * Creates missing indices. Safe to repeat, also concurrently. `repair` also creates indices whose data is
 * lost, for a repair to fill.
 */
export const createIndices = async (
  cluster: Cluster,
  { repair = false }: { readonly repair?: boolean } = {},
): Promise<void> => {
  const { connection, names, clock } = cluster
  const begun = await startedCheckpoint(cluster)
  if (begun !== undefined) await showHidden(cluster)
  if (!repair) await refuseLost(cluster)
  const differences = await checkIndices(cluster)
  refuseDifferent(connection, differences)
  const missing = new Set(differences.map(({ name }) => name))
  if (missing.size > 0 && begun === undefined) await onceStarted(() => requireEmptyStore(cluster), clock)
  // In parallel, because Elasticsearch combines the requests into one change of the cluster state.
  await Promise.all(
    wantedIndices(names.at(begun?.checkpoint.generations), begun?.checkpoint.partitions)
      .filter(wanted => missing.has(labelOf(names, wanted)))
      .map(wanted => createIndex(cluster, withAliases(wanted))),
  )
  await startedCheckpoint(cluster)
  const left = await checkIndices(cluster)
  refuseDifferent(connection, left)
  if (left.length > 0)
    throw new Failure('conflict', `Still missing: ${left.map(({ detail }) => detail).join('; ')}.`, {
      help: "An index without its alias is in the way. Run: 'iostlens indices check'.",
    })
}

/** Throws 'damaged' if an index with loaded data is gone, because an empty one would not replace it. */
export const refuseLost = async (cluster: ReadCluster): Promise<void> => {
  const { connection, names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  if (stored === undefined) return
  const { end, generations, partitions, inventory } = stored
  const loaded = wantedIndices(names.at(generations), partitions).filter(
    ({ name, from }) => inventory?.indices[name] !== undefined || (from !== undefined && end !== undefined),
  )
  const existing = await indexStates(connection, [...loaded.map(({ name }) => name), names.keys])
  const isMoved = movedKeys(names.at(generations), existing) !== undefined
  const lost = loaded.filter(({ name, alias }) => !existing.has(name) && !(isMoved && alias === names.keys))
  if (lost.length === 0) return
  const list = lost.map(({ name, from }) => (from === undefined ? name : `${name} (blocks from ${from} on)`))
  throw new Failure('damaged', `Indices with loaded data are missing at ${connection.url}: ${list.join(', ')}.`, {
    help: "Restore it from a snapshot, run 'iostlens repair', or run 'iostlens load' with another --store.",
  })
}

/** Restores lost aliases of loaded indices, and removes the alias of the index that API keys were moved from. */
const showHidden = async (cluster: ReadCluster): Promise<void> => {
  const { connection, names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  if (stored?.inventory === undefined) return
  const { inventory, generations, partitions } = stored
  const wanted = wantedIndices(names.at(generations), partitions)
  const existing = await indexStates(connection, [...Object.keys(inventory.indices), names.keys])
  const isMoved = movedKeys(names.at(generations), existing) !== undefined
  const actions = wanted.flatMap(({ name, alias, into }): readonly object[] => {
    const found = existing.get(name)
    // Otherwise keys that were revoked after the move would be valid again.
    if (isMoved && alias === names.keys)
      return found?.aliases.has(alias) === true ? [{ remove: { index: name, alias } }] : []
    if (found === undefined || found.uuid !== inventory.indices[name]?.[0]) return []
    return [...new Set([alias, into])]
      .filter(each => !found.aliases.has(each))
      .map(each => ({ add: { index: name, alias: each } }))
  })
  if (actions.length === 0) return
  await requestJson(connection, {
    what: `put indices of ${names.prefix} behind their aliases`,
    method: 'POST',
    path: '/_aliases',
    body: JSON.stringify({ actions }),
  })
}

/** The index with the aliases for readers and writers. */
const withAliases = ({ alias, into, ...wanted }: Wanted) => ({
  ...wanted,
  aliases: [...new Set([alias, into])],
})

/** Creates an index unless it exists. */
export const createIndex = async (
  { connection, names, replicas, writeTimeoutMs }: Cluster,
  { name, shape, aliases }: Pick<Wanted, 'name' | 'shape'> & { readonly aliases: readonly string[] },
): Promise<void> => {
  const answer = await requestText(connection, {
    what: `create ${name}`,
    method: 'PUT',
    path: `/${name}`,
    body: JSON.stringify(bodyOf(shape, aliases, replicas)),
    timeoutMs: writeTimeoutMs,
    acceptedStatuses: [400],
  })
  const error = errorOf(answer)
  // Another process, or an earlier attempt whose answer was lost, has created the index meanwhile.
  if (answer.status === 400 && error.type !== 'resource_already_exists_exception')
    throw new Failure('unavailable', `${connection.url} refused to create ${name} (400): ${reasonOf(error)}.`, {
      retryable: false,
      details: { status: 400, ...(error.type === undefined ? {} : { type: error.type }) },
      help: `Mend what the reason names. A limit or setting that is not one of the whole cluster comes from an index template. ${excludeFrom(connection.url, names.prefix)}`,
    })
}

const bodyOf = (shape: IndexShape, aliases: readonly string[], replicas: number) => ({
  settings: { index: { ...shape.settings.index, number_of_replicas: replicas } },
  mappings: shape.mappings,
  aliases: Object.fromEntries(aliases.map(alias => [alias, {}])),
})
