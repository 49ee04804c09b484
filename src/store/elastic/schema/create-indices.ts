import { Failure } from '#failure/failure.ts'
import { type HistoryIndex, historyIndices } from '#indices/registry.ts'
import { derivationDifferences } from '#store/identity.ts'
import type { StoreDifference } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import {
  type ElasticConnection,
  formatReason,
  parseError,
  requestHits,
  requestJson,
  requestText,
  toSearch,
} from '../client/request.ts'
import { type Checkpoint, formatRestoreHelp, readCheckpoint } from './checkpoint.ts'
import { DERIVED_NAMES, listIndices, readIndexStates, updateAliases } from './index-states.ts'
import { listLost } from './inventory.ts'
import { listWantedIndices, type Mapping, type StoredMapping, toShape, type WantedIndex } from './mappings.ts'
import { type Cluster, joinParts, type Names, type ReadCluster, selectGenerations } from './names.ts'

/**
 * Retries a read of indices that may just have been created, perhaps by another process: an index exists
 * before its shard has started, and does not answer until then.
 */
export async function awaitStarted<T>(read: () => Promise<T>, clock: Pick<Clock, 'elapsed' | 'sleep'>): Promise<T> {
  const since = clock.elapsed()
  for (;;) {
    try {
      return await read()
    } catch (error) {
      const starting = error instanceof Failure && error.details['status'] === 503
      // An empty shard starts within a second unless the cluster cannot allocate it.
      if (!starting || clock.elapsed() - since > 30_000) throw error
      await clock.sleep(50)
    }
  }
}

export async function readStartedCheckpoint(cluster: Cluster): Promise<Checkpoint | undefined> {
  return (await awaitStarted(() => readCheckpoint(cluster), cluster.clock))?.checkpoint
}

/** An index that contains a document of the chain; undefined: none does. */
export async function findFirstDocument(cluster: ReadCluster): Promise<string | undefined> {
  const { connection, names } = cluster
  const indices = (await listIndices(cluster))
    .filter(({ of }) => DERIVED_NAMES.has(of))
    .filter(({ of, generation }) => !names.building || generation === names.generations[of])
    .map(({ name }) => name)
  type Hit = { readonly _id: string; readonly _index: string }
  for (const part of joinParts(indices)) {
    const [found] = await requestHits<Hit>(connection, toSearch(part, { size: 1, _source: false }))
    if (found !== undefined) return found._index
  }
  return undefined
}

/**
 * Without a checkpoint a store begins with block 0. Throws 'damaged' if there are documents nevertheless: the
 * checkpoint was lost, and a loader that starts over would count them twice. Documents that another loader
 * has begun to write meanwhile are allowed.
 */
export async function requireEmptyStore(cluster: ReadCluster): Promise<void> {
  const { connection, names } = cluster
  const isBegun = async () => (await readCheckpoint(cluster)) !== undefined
  if (await isBegun()) return
  try {
    const found = await findFirstDocument(cluster)
    if (found === undefined) return
    const message = `There are documents in ${found} at ${connection.url}, but no checkpoint in ${names.meta}: it was lost.`
    throw new Failure('damaged', message, { help: formatRestoreHelp(names) })
  } catch (error) {
    if (!(await isBegun())) throw error
  }
}

type FoundDifference = StoreDifference & {
  readonly index?: string
  /** Whether this version made the index, so that something else has changed it. */
  readonly isOwn?: boolean
}

type CheckedIndices = Readonly<
  Record<string, { readonly aliases: Readonly<Record<string, unknown>>; readonly mappings: StoredMapping }>
>

/** The differences from the indices that `createIndices` would make; names without prefix and generation. */
export async function checkIndices(cluster: ReadCluster): Promise<readonly StoreDifference[]> {
  const { connection, names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  const wanted = listWantedIndices(names.at(stored?.generations), stored?.partitions)
  const existing = await requestJson<CheckedIndices>(connection, {
    what: 'read the indices',
    path: `/${[...new Set(wanted.map(({ alias }) => alias))].join(',')}`,
    query: { ignore_unavailable: 'true', filter_path: '*.aliases,*.mappings' },
  })
  const found = wanted.flatMap(each => compareIndex(names, each, existing))
  return addHelp(cluster, found, stored === undefined && !names.building ? 'nothing' : 'served')
}

/** Name of an index in messages: that of the partition, or of the alias. */
function formatLabel(names: Names, { of, name, from }: WantedIndex): string {
  return from === undefined ? of : name.slice(names.prefix.length + 1)
}

function compareIndex(names: Names, wanted: WantedIndex, existing: CheckedIndices): readonly FoundDifference[] {
  const { alias, shape } = wanted
  const name = formatLabel(names, wanted)
  const found = Object.entries(existing).filter(
    ([index, { aliases }]) =>
      index === alias || (alias in aliases && (wanted.from === undefined || index === wanted.name)),
  )
  if (found.length === 0)
    return [{ name, problem: 'missing', detail: `${wanted.from === undefined ? alias : wanted.name} does not exist` }]
  return found.flatMap(([index, { mappings }]) => {
    if (index === alias)
      return [{ name, problem: 'different' as const, detail: `${alias} is an index; expected an alias` }]
    return compareMapping({ name, index }, mappings, shape.mappings)
  })
}

/** The difference of an index from its expected mapping; [] for none. */
function compareMapping(
  named: { readonly name: string; readonly index: string },
  stored: StoredMapping,
  expected: Mapping,
): readonly FoundDifference[] {
  const detail = describeDifference(stored, expected)
  if (detail === undefined) return []
  const isOwn = stored._meta?.fingerprint === expected._meta.fingerprint
  return [{ ...named, problem: 'different', detail: `${named.index}: ${detail}`, isOwn }]
}

export function describeDifference(stored: StoredMapping, expected: Mapping): string | undefined {
  const { fingerprint } = stored._meta ?? {}
  if (fingerprint !== expected._meta.fingerprint)
    return `mapping ${fingerprint ?? 'of unknown origin'}; expected ${expected._meta.fingerprint}`
  if (stored.dynamic !== expected.dynamic) return `dynamic ${stored.dynamic}; expected ${expected.dynamic}`
  const properties = stored.properties ?? {}
  const fields = new Set([...Object.keys(properties), ...Object.keys(expected.properties)])
  for (const field of fields)
    if (!Bun.deepEquals(properties[field], expected.properties[field]))
      return `field ${field} is ${formatProperty(properties[field])}; expected ${formatProperty(expected.properties[field])}`
  // Members that change what is stored or found of documents that fit the fields.
  for (const member of ['_source', 'runtime'] as const)
    if (stored[member] !== undefined) return `${member} is ${formatProperty(stored[member])}; expected nothing`
  return undefined
}

function formatProperty(property: unknown): string {
  return JSON.stringify(property) ?? 'missing'
}

/**
 * Adds the remedy where a migration is none: an index template would change the next indices too, and a store in which
 * nothing is loaded cannot be migrated. `kept`: what the indices hold; 'nothing' also for those just made.
 */
function addHelp(
  { connection: { url }, names: { prefix } }: ReadCluster,
  differences: readonly FoundDifference[],
  kept: 'nothing' | 'served',
): readonly StoreDifference[] {
  const indices = differences.flatMap(({ index }) => index ?? [])
  const isChanged = differences.some(({ isOwn }) => isOwn)
  if (indices.length === 0 || (!isChanged && kept === 'served')) return differences
  const cause = isChanged
    ? `This version made the indices that differ, and an index template of the cluster has probably changed them. ${formatExclusion(url, prefix)} `
    : ''
  const anew =
    kept === 'served'
      ? 'Then run: iostlens indices migrate.'
      : `No block is loaded in them: delete them with any API keys (DELETE ${url}/${indices.join(',')}), and run iostlens indices create or load.`
  return differences.map(each => ('index' in each ? { ...each, help: cause + anew } : each))
}

/** How an operator keeps templates away from the indices of a store. */
function formatExclusion(url: string, prefix: string): string {
  return `Exclude ${prefix}-* from the index_patterns of that template (GET ${url}/_index_template and ${url}/_template list all).`
}

/** Throws 'conflict' on differences that creating indices cannot fix. */
function refuseOtherIndices(connection: ElasticConnection, differences: readonly StoreDifference[]): void {
  const different = differences.filter(({ problem }) => problem === 'different')
  if (different.length === 0) return
  // `indices check` lists all.
  const shown = different.slice(0, 5).map(({ name, detail }) => `${name} (${detail})`)
  const more = different.length > 5 ? [`and ${different.length - 5} more`] : []
  const list = [...shown, ...more].join('; ')
  throw new Failure('conflict', `Indices at ${connection.url} do not match this version: ${list}.`, {
    help:
      different[0]?.help ??
      "Run: 'iostlens indices check'. Then run 'iostlens indices migrate', or use the version that created them.",
  })
}

/** Like `checkIndices`, plus loaded data that is lost or was derived by another version's rules. */
export async function checkStore(cluster: Cluster): Promise<readonly StoreDifference[]> {
  await awaitStarted(() => requireEmptyStore(cluster), cluster.clock)
  const lost = await listLost(cluster)
  const named = new Set(lost.map(({ name }) => name))
  const others = await checkIndices(cluster)
  const stored = (await readCheckpoint(cluster))?.checkpoint
  return [
    ...lost,
    ...others.filter(({ name, problem }) => problem !== 'missing' || !named.has(name)),
    ...derivationDifferences(stored),
  ]
}

/**
 * Creates missing indices. Safe to repeat, also concurrently. `repair` also creates indices whose data is
 * lost, for a repair to fill.
 */
export async function createIndices(cluster: Cluster, { repair = false } = {}): Promise<void> {
  const { connection, names, clock } = cluster
  const begun = await readStartedCheckpoint(cluster)
  if (begun !== undefined) await showHidden(cluster, begun)
  if (!repair) await refuseLost(cluster)
  const differences = await checkIndices(cluster)
  refuseOtherIndices(connection, differences)
  const missing = new Set(differences.map(({ name }) => name))
  if (missing.size > 0 && begun === undefined) await awaitStarted(() => requireEmptyStore(cluster), clock)
  // In parallel, because Elasticsearch combines the requests into one change of the cluster state.
  await Promise.all(
    listWantedIndices(names.at(begun?.generations), begun?.partitions)
      .filter(wanted => missing.has(formatLabel(names, wanted)))
      .map(wanted => createIndex(cluster, { ...wanted, aliases: [...new Set([wanted.alias, wanted.into])] })),
  )
  // Waits until the shard of the new index answers.
  await readStartedCheckpoint(cluster)
  const left = await checkIndices(cluster)
  refuseOtherIndices(connection, left)
  if (left.length > 0)
    throw new Failure('conflict', `Still missing: ${left.map(({ detail }) => detail).join('; ')}.`, {
      help: "An index without its alias is in the way. Run: 'iostlens indices check'.",
    })
}

/** Throws 'damaged' if an index with loaded data is gone, because an empty one would not replace it. */
async function refuseLost(cluster: ReadCluster): Promise<void> {
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

async function showHidden(
  { connection, names }: ReadCluster,
  { inventory, generations, partitions }: Checkpoint,
): Promise<void> {
  if (inventory === undefined) return
  const wanted = listWantedIndices(names.at(generations), partitions)
  const keys = names.at(generations).behind('keys')
  const existing = await readIndexStates(connection, [...Object.keys(inventory.indices), names.keys])
  const hasOtherKeys = [...existing].some(([name, { aliases }]) => name !== keys && aliases.has(names.keys))
  const actions = wanted.flatMap(({ name, alias, into }): readonly object[] => {
    const found = existing.get(name)
    if (found === undefined || found.uuid !== inventory.indices[name]?.[0]) return []
    // A second index of keys comes to be if one is restored or moved by hand, or by a killed migration. Keys that were
    // revoked in that index would be valid again.
    if (name === keys && hasOtherKeys) return []
    return [...new Set([alias, into])]
      .filter(each => !found.aliases.has(each))
      .map(each => ({ add: { index: name, alias: each } }))
  })
  if (actions.length === 0) return
  await updateAliases(connection, { what: `put indices of ${names.prefix} behind their aliases`, actions })
}

/**
 * The served generation, once all its indices exist and answer; a repair also creates the lost ones. Throws 'conflict' unless
 * every index is as `createIndices` makes it.
 */
export async function requireWritable(cluster: Cluster, repair: boolean): Promise<Cluster> {
  const { connection, names, clock } = cluster
  const stored = await readCheckpoint(cluster)
  if (stored === undefined) await awaitStarted(() => requireEmptyStore(cluster), clock)
  if (repair) await createIndices(cluster, { repair })
  else await refuseLost(cluster)
  const differences = await checkIndices(cluster)
  refuseOtherIndices(connection, differences)
  if (differences.length > 0) {
    const missing = differences.map(({ name }) => name).join(', ')
    throw new Failure('conflict', `Indices of ${names.prefix} are missing at ${connection.url}: ${missing}.`, {
      help: "Run: 'iostlens indices create'.",
    })
  }
  const served = selectGenerations(cluster, stored?.checkpoint.generations)
  const search = toSearch(served.names.states.join(','), { size: 0 }, { query: { filter_path: 'took' } })
  await awaitStarted(() => requestJson(connection, search), clock)
  return served
}

export async function createIndex(
  { connection, names, replicas, writeTimeoutMs }: Cluster,
  { name, shape, aliases }: Pick<WantedIndex, 'name' | 'shape'> & { readonly aliases: readonly string[] },
): Promise<void> {
  const answer = await requestText(connection, {
    what: `create ${name}`,
    method: 'PUT',
    path: `/${name}`,
    body: JSON.stringify({
      settings: { index: { ...shape.settings.index, number_of_replicas: replicas } },
      mappings: shape.mappings,
      aliases: Object.fromEntries(aliases.map(alias => [alias, {}])),
    }),
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
    path: `/${wanted.map(({ name }) => name).join(',')}/_mapping`,
  })
  const differences = wanted.flatMap(({ name, shape }) =>
    compareMapping({ name, index: name }, found[name]?.mappings ?? {}, shape.mappings),
  )
  refuseOtherIndices(connection, addHelp(cluster, differences, 'nothing'))
  await addPartitionAliases(cluster, partition, index => [names.intoPartition(index, partition)])
}

/** Adds a partition to the readers' aliases, after its indices were written and refreshed. */
export function showPartition(cluster: ReadCluster, partition: number): Promise<void> {
  const { names } = cluster
  return addPartitionAliases(cluster, partition, ({ name }) =>
    names.building ? [names.own(name)] : [...new Set([names.own(name), names.served(name)])],
  )
}

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
