import { Failure } from '#failure/failure.ts'
import { derivationDifferences } from '#store/identity.ts'
import type { Difference } from '#store/port.ts'
import type { Connection } from '../client/connection.ts'
import { requestJson } from '../client/request-json.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Cluster, ReadCluster } from './cluster.ts'
import { lostOf } from './lost-indices.ts'
import type { Mapping } from './mappings.ts'
import type { Names } from './names.ts'
import { requireEmptyStore } from './require-empty.ts'
import { onceStarted } from './wait-for-shards.ts'
import { type Wanted, wantedIndices } from './wanted-indices.ts'

type Existing = Readonly<
  Record<string, { readonly aliases: Readonly<Record<string, unknown>>; readonly mappings: Partial<Mapping> }>
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
  return wanted.flatMap(each => differenceOf(names, each, existing))
}

/** Name of an index in messages: that of the partition, or of the alias. */
export const labelOf = (names: Names, { of, name, from }: Wanted): string =>
  from === undefined ? of : name.slice(names.prefix.length + 1)

const differenceOf = (names: Names, wanted: Wanted, existing: Existing): readonly Difference[] => {
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
    const detail = mappingDifference(mappings, shape.mappings)
    return detail === undefined ? [] : [{ name, problem: 'different' as const, detail: `${index}: ${detail}` }]
  })
}

export const mappingDifference = (stored: Partial<Mapping>, expected: Mapping): string | undefined => {
  const { fingerprint } = stored._meta ?? {}
  if (fingerprint !== expected._meta.fingerprint)
    return `mapping ${fingerprint ?? 'of unknown origin'}; expected ${expected._meta.fingerprint}`
  if (stored.dynamic !== 'strict') return `dynamic ${stored.dynamic}; expected strict`
  const properties = stored.properties ?? {}
  const fields = new Set([...Object.keys(properties), ...Object.keys(expected.properties)])
  for (const field of fields)
    if (!Bun.deepEquals(properties[field], expected.properties[field]))
      return `field ${field} is ${textOf(properties[field])}; expected ${textOf(expected.properties[field])}`
  return undefined
}

const textOf = (property: unknown): string => JSON.stringify(property) ?? 'missing'

/** Throws 'conflict' on differences that creating indices cannot fix. */
export const refuseDifferent = (connection: Connection, differences: readonly Difference[]): void => {
  const different = differences.filter(({ problem }) => problem === 'different')
  if (different.length === 0) return
  const list = different.map(({ name, detail }) => `${name} (${detail})`).join('; ')
  throw new Failure('conflict', `Indices at ${connection.url} do not match this version: ${list}.`, {
    help: "Run: 'iostlens indices check'. Then run 'iostlens indices migrate', or use the version that created them.",
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
