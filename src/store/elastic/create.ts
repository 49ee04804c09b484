import { Failure } from '#failure/failure.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import type { Difference } from '#store/port.ts'
import { ask, askText } from './ask.ts'
import { requireNothing } from './begin-anew.ts'
import type { Connection } from './connection.ts'
import { errorOf, toFailure } from './failures.ts'
import { type IndexShape, journalShape, keysShape, type Mapping, metaShape, shapeOf } from './mappings.ts'
import { readCheckpoint } from './meta.ts'
import type { Names } from './names.ts'
import type { Pace } from './pace.ts'
import { FIRST_PARTITION, type Partitions } from './partitions.ts'
import { startedCheckpoint } from './started.ts'

export type Wanted = {
  /** Without prefix, generation and partition. */
  readonly of: string
  readonly name: string
  readonly alias: string
  readonly shape: IndexShape
  /** First height of the partition of history that it is. */
  readonly from?: number
}
type Existing = Readonly<
  Record<string, { readonly aliases: Readonly<Record<string, unknown>>; readonly mappings: Partial<Mapping> }>
>

/** Every index behind a prefix, with its alias and shape; history as far as it is split. */
export const wantedIndices = (names: Names, partitions: Partitions = FIRST_PARTITION): readonly Wanted[] => [
  ...historyIndices.flatMap(index =>
    partitions.map((from, partition) => ({
      of: index.name,
      name: names.partition(index, partition),
      alias: names.history(index),
      shape: shapeOf(index),
      from,
    })),
  ),
  ...stateIndices.map(index => behind(names, index.name, shapeOf(index))),
  behind(names, 'meta', metaShape),
  behind(names, 'journal', journalShape),
  // Keys are of no generation of documents: whoever adds or asks for one needs not know of them.
  ...(names.building ? [] : [{ ...behind(names, 'keys', keysShape), alias: names.keys }]),
]

const behind = (names: Names, of: string, shape: IndexShape): Wanted => ({
  of,
  name: names.behind(of),
  alias: names.own(of),
  shape,
})

/** What differs from what `createIndices` would make; names without prefix and generation. */
export const checkIndices = async (connection: Connection, names: Names): Promise<readonly Difference[]> => {
  const stored = (await readCheckpoint(connection, names))?.checkpoint
  const wanted = wantedIndices(names.at(stored?.generations), stored?.partitions)
  const existing = await ask<Existing>(connection, {
    what: 'see the indices',
    method: 'GET',
    path: `/${[...new Set(wanted.map(({ alias }) => alias))].join(',')}`,
    query: { ignore_unavailable: 'true', filter_path: '*.aliases,*.mappings' },
  })
  return wanted.flatMap(each => differenceOf(names, each, existing))
}

/** What messages call it: partitions one by one, the others by their alias. */
const labelOf = (names: Names, { of, name, from }: Wanted): string =>
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
      { name, problem: 'missing', detail: `there is no ${wanted.from === undefined ? alias : wanted.name}` },
    ]
  return found.flatMap(([index, { mappings }]) => {
    if (index === alias)
      return [{ name, problem: 'different' as const, detail: `${alias} is an index; expected an alias` }]
    const detail = mappingDifference(mappings, shape.mappings)
    return detail === undefined
      ? []
      : [{ name, problem: 'different' as const, detail: `${index}: ${detail}` }]
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
      return `field ${field} is ${shown(properties[field])}; expected ${shown(expected.properties[field])}`
  return undefined
}

const shown = (property: unknown): string => JSON.stringify(property) ?? 'missing'

/** Throws 'conflict' on the differences that creating can not mend. */
export const refuseDifferent = (connection: Connection, differences: readonly Difference[]): void => {
  const different = differences.filter(({ problem }) => problem === 'different')
  if (different.length === 0) return
  const list = different.map(({ name, detail }) => `${name} (${detail})`).join('; ')
  throw new Failure('conflict', `Indices at ${connection.url} are not as expected: ${list}.`, {
    help: 'Run: iostlens indices check. Then iostlens indices migrate, or go back to the version that made them.',
  })
}

export type CreateOptions = { readonly replicas: number; readonly timeoutMs: number }

/** Creates what is missing; safe to repeat and to run twice at once. */
export const createIndices = async (
  connection: Connection,
  names: Names,
  options: CreateOptions,
  pace: Pick<Pace, 'now' | 'sleep'>,
): Promise<void> => {
  const begun = await startedCheckpoint(connection, names, pace)
  const differences = await checkIndices(connection, names)
  refuseDifferent(connection, differences)
  const missing = new Set(differences.map(({ name }) => name))
  if (missing.size > 0 && begun === undefined) await requireNothing(connection, names)
  await refuseLost(connection, names, missing)
  // All at once: Elasticsearch makes one change of the cluster's state of them.
  await Promise.all(
    wantedIndices(names.at(begun?.checkpoint.generations))
      .filter(wanted => missing.has(labelOf(names, wanted)))
      .map(wanted => createIndex(connection, wanted, options)),
  )
  await startedCheckpoint(connection, names, pace)
  const left = await checkIndices(connection, names)
  refuseDifferent(connection, left)
  if (left.length > 0)
    throw new Failure('conflict', `Still missing: ${left.map(({ detail }) => detail).join('; ')}.`, {
      help: 'An index without its alias is in the way, see: iostlens indices check.',
    })
}

/** Blocks that were committed are not made up for by an empty index. */
const refuseLost = async (
  connection: Connection,
  names: Names,
  missing: ReadonlySet<string>,
): Promise<void> => {
  if (missing.size === 0) return
  const stored = (await readCheckpoint(connection, names))?.checkpoint
  if (stored?.end === undefined) return
  const lost = wantedIndices(names.at(stored.generations), stored.partitions).filter(
    wanted => wanted.from !== undefined && missing.has(labelOf(names, wanted)),
  )
  if (lost.length === 0) return
  const list = lost.map(({ name, from }) => `${name} (blocks from ${from} on)`).join(', ')
  throw new Failure('conflict', `History that was loaded is missing at ${connection.url}: ${list}.`, {
    help: 'Restore it from a snapshot, or load anew into another prefix.',
  })
}

/** Creates it unless it is there; without an alias it is not seen by readers. */
export const createIndex = async (
  connection: Connection,
  { name, alias, shape }: Pick<Wanted, 'name' | 'shape'> & Partial<Pick<Wanted, 'alias'>>,
  options: CreateOptions,
): Promise<void> => {
  const answer = await askText(connection, {
    what: `create ${name}`,
    method: 'PUT',
    path: `/${name}`,
    body: JSON.stringify(bodyOf(shape, alias, options.replicas)),
    timeoutMs: options.timeoutMs,
    also: [400],
  })
  const error = errorOf(answer)
  // Created meanwhile, by another process or by a try of ours whose answer was lost.
  if (answer.status === 400 && error.type !== 'resource_already_exists_exception')
    throw toFailure(connection, answer.status, error, `create ${name}`)
}

const bodyOf = (shape: IndexShape, alias: string | undefined, replicas: number) => ({
  settings: { index: { ...shape.settings.index, number_of_replicas: replicas } },
  mappings: shape.mappings,
  aliases: alias === undefined ? {} : { [alias]: {} },
})
