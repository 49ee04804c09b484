import { Failure } from '#failure/failure.ts'
import { derivationDifferences } from '#store/identity.ts'
import type { StoreDifference } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { ElasticConnection } from '../client/request.ts'
import { requestJson, toSearch } from '../client/request.ts'
import { formatRestoreHelp, readCheckpoint } from './checkpoint.ts'
import { isDerived, listIndices } from './index-states.ts'
import { listLost } from './inventory.ts'
import { listWantedIndices, type Mapping, type StoredMapping, type WantedIndex } from './mappings.ts'
import { type Cluster, joinParts, type Names, type ReadCluster } from './names.ts'

/** Pause between two attempts, milliseconds. */
export const STARTED_WAIT_MS = 50
/** Maximum wait, milliseconds. An empty shard starts within a second unless the cluster cannot allocate it. */
const STARTED_TIMEOUT_MS = 30_000
const UNAVAILABLE = 503

type Waiting = Pick<Clock, 'elapsed' | 'sleep'>

/**
 * Retries a read of indices that may just have been created, perhaps by another process: an index exists
 * before its shard has started, and does not answer until then.
 */
export async function awaitStarted<T>(read: () => Promise<T>, clock: Waiting): Promise<T> {
  const since = clock.elapsed()
  for (;;) {
    try {
      return await read()
    } catch (error) {
      const starting = error instanceof Failure && error.details['status'] === UNAVAILABLE
      if (!starting || clock.elapsed() - since > STARTED_TIMEOUT_MS) throw error
      await clock.sleep(STARTED_WAIT_MS)
    }
  }
}

/** The checkpoint, once its shard has started. */
export function readStartedCheckpoint(cluster: Cluster): ReturnType<typeof readCheckpoint> {
  return awaitStarted(() => readCheckpoint(cluster), cluster.clock)
}

/** Resolves when every index that a loader reads answers. */
export async function waitForShards(cluster: Cluster): Promise<void> {
  const { connection, names } = cluster
  const indices = names.states.join(',')
  const search = toSearch(indices, { size: 0 }, { query: { filter_path: 'took' } })
  await awaitStarted(() => requestJson(connection, search), cluster.clock)
}

async function requireEmpty(cluster: ReadCluster): Promise<void> {
  const { connection, names } = cluster
  const found = await findFirstDocument(cluster)
  if (found === undefined) return
  throw new Failure(
    'damaged',
    `There are documents in ${found} at ${connection.url}, but no checkpoint in ${names.meta}: it was lost.`,
    { help: formatRestoreHelp(names) },
  )
}

/** An index that contains a document of the chain; undefined: none does. */
export async function findFirstDocument(cluster: ReadCluster): Promise<string | undefined> {
  const { connection, names } = cluster
  const indices = (await listIndices(cluster))
    .filter(({ of }) => isDerived(of))
    .filter(({ of, generation }) => !names.building || generation === names.generations[of])
    .map(({ name }) => name)
  for (const part of joinParts(indices)) {
    const { hits } = await requestJson<{ hits?: { hits?: readonly { readonly _index: string }[] } }>(
      connection,
      toSearch(part, { size: 1, _source: false }),
    )
    const [found] = hits?.hits ?? []
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
  const isBegun = async () => (await readCheckpoint(cluster)) !== undefined
  if (await isBegun()) return
  try {
    await requireEmpty(cluster)
  } catch (error) {
    if (!(await isBegun())) throw error
  }
}

/** A difference, with the index whose mapping it is in. */
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
    method: 'GET',
    path: `/${[...new Set(wanted.map(({ alias }) => alias))].join(',')}`,
    query: { ignore_unavailable: 'true', filter_path: '*.aliases,*.mappings' },
  })
  const found = wanted.flatMap(each => compareIndex(names, each, existing))
  return addHelp(cluster, found, stored === undefined && !names.building ? 'nothing' : 'served')
}

/** Name of an index in messages: that of the partition, or of the alias. */
export function formatLabel(names: Names, { of, name, from }: WantedIndex): string {
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
    return [
      {
        name,
        problem: 'missing',
        detail: `${wanted.from === undefined ? alias : wanted.name} does not exist`,
      },
    ]
  return found.flatMap(([index, { mappings }]) => {
    if (index === alias)
      return [{ name, problem: 'different' as const, detail: `${alias} is an index; expected an alias` }]
    return compareMapping({ name, index }, mappings, shape.mappings)
  })
}

/** The difference of an index from its expected mapping; [] for none. */
export function compareMapping(
  { name, index }: { readonly name: string; readonly index: string },
  stored: StoredMapping,
  expected: Mapping,
): readonly FoundDifference[] {
  const detail = describeDifference(stored, expected)
  if (detail === undefined) return []
  const isOwn = stored._meta?.fingerprint === expected._meta.fingerprint
  return [{ name, problem: 'different', detail: `${index}: ${detail}`, index, isOwn }]
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
  for (const member of CHANGING)
    if (stored[member] !== undefined) return `${member} is ${formatProperty(stored[member])}; expected nothing`
  return undefined
}

/** Members that change what is stored or found of documents that fit the fields. */
const CHANGING = ['_source', 'runtime'] as const

function formatProperty(property: unknown): string {
  return JSON.stringify(property) ?? 'missing'
}

/** A message names this many indices; `indices check` lists all. */
const SHOWN = 5

const MIGRATE =
  "Run: 'iostlens indices check'. Then run 'iostlens indices migrate', or use the version that created them."

/**
 * Adds the remedy where a migration is none: an index template would change the next indices too, and a store in which
 * nothing is loaded cannot be migrated. `kept`: what the indices hold; 'nothing' also for those just made.
 */
export function addHelp(
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
export function formatExclusion(url: string, prefix: string): string {
  return `Exclude ${prefix}-* from the index_patterns of that template (GET ${url}/_index_template and ${url}/_template list all).`
}

/** Throws 'conflict' on differences that creating indices cannot fix. */
export function refuseDifferent(connection: ElasticConnection, differences: readonly StoreDifference[]): void {
  const different = differences.filter(({ problem }) => problem === 'different')
  if (different.length === 0) return
  const shown = different.slice(0, SHOWN).map(({ name, detail }) => `${name} (${detail})`)
  const more = different.length > SHOWN ? [`and ${different.length - SHOWN} more`] : []
  const list = [...shown, ...more].join('; ')
  throw new Failure('conflict', `Indices at ${connection.url} do not match this version: ${list}.`, {
    help: different[0]?.help ?? MIGRATE,
  })
}

/** Throws 'conflict' unless every index exists as `createIndices` makes it. */
export async function requireIndices(cluster: ReadCluster): Promise<void> {
  const { connection, names } = cluster
  const differences = await checkIndices(cluster)
  refuseDifferent(connection, differences)
  if (differences.length === 0) return
  const missing = differences.map(({ name }) => name).join(', ')
  throw new Failure('conflict', `Indices of ${names.prefix} are missing at ${connection.url}: ${missing}.`, {
    help: "Run: 'iostlens indices create'.",
  })
}

/** `checkIndices` as soon as the cluster has started. */
export function checkShape(cluster: Cluster): Promise<readonly StoreDifference[]> {
  return awaitStarted(() => checkIndices(cluster), cluster.clock)
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
