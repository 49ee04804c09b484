import { Failure } from '#failure/failure.ts'
import { derivationDifferences } from '#store/identity.ts'
import type { Difference } from '#store/port.ts'
import type { Connection } from '../client/connection.ts'
import { requestJson } from '../client/request-json.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Cluster, ReadCluster } from './cluster.ts'
import { lostOf } from './lost-indices.ts'
import type { Mapping, StoredMapping } from './mappings.ts'
import type { Names } from './names.ts'
import { requireEmptyStore } from './require-empty.ts'
import { onceStarted } from './wait-for-shards.ts'
import { type Wanted, wantedIndices } from './wanted-indices.ts'

/** A difference, with the index whose mapping it is in. */
export type Found = Difference & {
  readonly index?: string
  /** Whether this version made the index, so that something else has changed it. */
  readonly isOwn?: boolean
}

type Existing = Readonly<
  Record<string, { readonly aliases: Readonly<Record<string, unknown>>; readonly mappings: StoredMapping }>
>

/** The differences from the indices that `createIndices` would make; names without prefix and generation. */
export const checkIndices = async (cluster: ReadCluster): Promise<readonly Difference[]> => {
  const { connection, names } = cluster
  const stored = (await readCheckpoint(cluster))?.checkpoint
  const wanted = wantedIndices(names.at(stored?.generations), stored?.partitions)
  const existing = await requestJson<Existing>(connection, {
    what: 'read the indices',
    method: 'GET',
    path: `/${[...new Set(wanted.map(({ alias }) => alias))].join(',')}`,
    query: { ignore_unavailable: 'true', filter_path: '*.aliases,*.mappings' },
  })
  const found = wanted.flatMap(each => differenceOf(names, each, existing))
  return withHelp(cluster, found, stored === undefined && !names.building ? 'nothing' : 'served')
}

/** Name of an index in messages: that of the partition, or of the alias. */
export const labelOf = (names: Names, { of, name, from }: Wanted): string =>
  from === undefined ? of : name.slice(names.prefix.length + 1)

const differenceOf = (names: Names, wanted: Wanted, existing: Existing): readonly Found[] => {
  const { alias, shape } = wanted
  const name = labelOf(names, wanted)
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
    return differentIndex({ name, index }, mappings, shape.mappings)
  })
}

/** The difference of an index from its expected mapping; [] for none. */
export const differentIndex = (
  { name, index }: { readonly name: string; readonly index: string },
  stored: StoredMapping,
  expected: Mapping,
): readonly Found[] => {
  const detail = mappingDifference(stored, expected)
  if (detail === undefined) return []
  const isOwn = stored._meta?.fingerprint === expected._meta.fingerprint
  return [{ name, problem: 'different', detail: `${index}: ${detail}`, index, isOwn }]
}

export const mappingDifference = (stored: StoredMapping, expected: Mapping): string | undefined => {
  const { fingerprint } = stored._meta ?? {}
  if (fingerprint !== expected._meta.fingerprint)
    return `mapping ${fingerprint ?? 'of unknown origin'}; expected ${expected._meta.fingerprint}`
  if (stored.dynamic !== expected.dynamic) return `dynamic ${stored.dynamic}; expected ${expected.dynamic}`
  const properties = stored.properties ?? {}
  const fields = new Set([...Object.keys(properties), ...Object.keys(expected.properties)])
  for (const field of fields)
    if (!Bun.deepEquals(properties[field], expected.properties[field]))
      return `field ${field} is ${textOf(properties[field])}; expected ${textOf(expected.properties[field])}`
  for (const member of CHANGING)
    if (stored[member] !== undefined) return `${member} is ${textOf(stored[member])}; expected nothing`
  return undefined
}

/** Members that change what is stored or found of documents that fit the fields. */
const CHANGING = ['_source', 'runtime'] as const

const textOf = (property: unknown): string => JSON.stringify(property) ?? 'missing'

/** A message names this many indices; `indices check` lists all. */
const SHOWN = 5

const MIGRATE =
  "Run: 'iostlens indices check'. Then run 'iostlens indices migrate', or use the version that created them."

/**
 * Adds the remedy where a migration is none: an index template would change the next indices too, and a store in which
 * nothing is loaded cannot be migrated. `kept`: what the indices hold; 'nothing' also for those just made.
 */
export const withHelp = (
  { connection: { url }, names: { prefix } }: ReadCluster,
  differences: readonly Found[],
  kept: 'nothing' | 'served',
): readonly Difference[] => {
  const indices = differences.flatMap(({ index }) => index ?? [])
  const isChanged = differences.some(({ isOwn }) => isOwn)
  if (indices.length === 0 || (!isChanged && kept === 'served')) return differences
  const cause = isChanged
    ? `This version made the indices that differ, and an index template of the cluster has probably changed them. ${excludeFrom(url, prefix)} `
    : ''
  const anew =
    kept === 'served'
      ? 'Then run: iostlens indices migrate.'
      : `No block is loaded in them: delete them with any API keys (DELETE ${url}/${indices.join(',')}), and run iostlens indices create or load.`
  return differences.map(each => ('index' in each ? { ...each, help: cause + anew } : each))
}

/** How an operator keeps templates away from the indices of a store. */
export const excludeFrom = (url: string, prefix: string): string =>
  `Exclude ${prefix}-* from the index_patterns of that template (GET ${url}/_index_template and ${url}/_template list all).`

/** Throws 'conflict' on differences that creating indices cannot fix. */
export const refuseDifferent = (connection: Connection, differences: readonly Difference[]): void => {
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
export const requireIndices = async (cluster: ReadCluster): Promise<void> => {
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
export const checkShape = (cluster: Cluster): Promise<readonly Difference[]> =>
  onceStarted(() => checkIndices(cluster), cluster.clock)

/** Like `checkIndices`, plus loaded data that is lost or was derived by another version's rules. */
export const checkStore = async (cluster: Cluster): Promise<readonly Difference[]> => {
  await onceStarted(() => requireEmptyStore(cluster), cluster.clock)
  const lost = await lostOf(cluster)
  const named = new Set(lost.map(({ name }) => name))
  const others = await checkIndices(cluster)
  const stored = (await readCheckpoint(cluster))?.checkpoint
  return [
    ...lost,
    ...others.filter(({ name, problem }) => problem !== 'missing' || !named.has(name)),
    ...derivationDifferences(stored),
  ]
}
