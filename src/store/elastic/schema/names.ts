import { Failure } from '#failure/failure.ts'
import type { Index, Order } from '#indices/define.ts'
import type { HistoryIndex, StateIndex } from '#indices/registry.ts'
import { series } from '#indices/series.ts'
import type { Batch, CallEnd } from '#store/port.ts'
import type { ElasticConnection } from '../client/request.ts'
import type { Sender } from '../client/sender.ts'

/** Indices with documents of state: series, whose full parts never change again, and all other kinds together. */
export const STATE_INDICES = ['state', 'series'] as const

type StateKind = Pick<Index, 'name'>

/** Name without prefix of the index that contains a kind of state documents. */
export function getStateIndex({ name }: StateKind): (typeof STATE_INDICES)[number] {
  return name === series.name ? 'series' : 'state'
}

/** Begins the ids of a kind in the index `state`, where documents of several kinds may have equal ids. */
function getPrefix(kind: StateKind): string {
  return getStateIndex(kind) === 'state' ? `${kind.name}/` : ''
}

export function toStateId(kind: StateKind, id: string): string {
  return getPrefix(kind) + id
}

/** The id of a state document by the id under which it is stored. */
export function parseStateId(kind: StateKind, stored: string): string {
  return stored.slice(getPrefix(kind).length)
}

/**
 * Fields that all kinds of the index `state` share. Its sort on disk consists of the first four: the kind, and the group,
 * amount and member of the first order of that kind. All other fields keep their names.
 */
export const [KIND, GROUP, VALUE, MEMBER] = ['kind', 'group', 'value', 'member'] as const
/** The stored id again, in documents that are found by a prefix of their names. */
export const NAMED = 'named'

/** The stored names of the fields by which a kind is sorted on disk. */
export function getStoredNames(index: Pick<Index, 'name' | 'kind' | 'orders'>): Readonly<Record<string, string>> {
  const first = getFirstOrder(index)
  if (first === undefined) return {}
  const { group, by } = first
  const [value, member] = by
  return {
    ...(group === undefined ? {} : { [group]: GROUP }),
    ...(isSortedOnDisk(first) && value && member ? { [value[0]]: VALUE, [member[0]]: MEMBER } : {}),
  }
}

/** The first order of a kind in the index `state`. */
export function getFirstOrder(index: Pick<Index, 'name' | 'kind' | 'orders'>): Order | undefined {
  return index.kind === 'state' && getStateIndex(index) === 'state' ? Object.values(index.orders)[0] : undefined
}

/** Whether an order goes by an amount, descending, and a name, as the index does. */
export function isSortedOnDisk({ by }: Order): boolean {
  return by.length === 2 && by[0]?.[1] === 'desc' && by[1]?.[1] === 'asc'
}

/**
 * First height of each partition, by number. The partition of a block follows from its height and this list,
 * which is in the checkpoint. Blocks, transactions and records have the same partitions.
 */
export type PartitionStarts = readonly number[]

export const FIRST_PARTITION: PartitionStarts = [0]

/** The partitions after a batch; the same list if it opens none. Throws 'defect' if it opens any but the next. */
export function addPartition(
  partitions: PartitionStarts,
  { first, filling }: Pick<Batch, 'first' | 'filling'>,
): PartitionStarts {
  if (filling.partition === partitions.length - 1) return partitions
  if (filling.partition === partitions.length) return [...partitions, first]
  throw new Failure(
    'defect',
    `Batch from block ${first} belongs to partition ${filling.partition}, but the last one is ${partitions.length - 1}.`,
  )
}

export function findPartition(partitions: PartitionStarts, height: number): number {
  let at = partitions.length - 1
  while (at > 0 && (partitions[at] ?? 0) > height) at--
  return at
}

/**
 * The generation of each index, by its name without prefix; absent: 0. A migration builds the next one beside
 * it. Checkpoint and published height contain it, so their readers stay with one generation.
 */
export type Generations = Readonly<Record<string, number>>

export type Names = {
  readonly prefix: string
  readonly generations: Generations
  /** Alias: checkpoint and published height. Without given generations it points to whichever one is served. */
  readonly meta: string
  readonly keys: string
  /** Index from which documents of a kind of state are read. */
  readonly state: (index: StateIndex) => string
  readonly states: readonly string[]
  /** Alias under which state is written: with `require_alias` a write cannot recreate a deleted index. */
  readonly into: (index: StateIndex) => string
  readonly partition: (index: HistoryIndex, partition: number) => string
  /** Alias under which a partition is written, for the same reason. */
  readonly intoPartition: (index: HistoryIndex, partition: number) => string
  /** Concrete index of a name without prefix; not for partitions of history. */
  readonly behind: (name: string) => string
  /** Alias of the generation, assigned to its indices at their creation; of history, over all partitions. */
  readonly own: (name: string) => string
  readonly served: (name: string) => string
  /** The same names for other generations; undefined: unchanged. */
  readonly at: (generations: Generations | undefined) => Names
  /** Whether the indices are being built, so that no reader uses them. */
  readonly building: boolean
}

/** `building`: the generations that are being built beside the served ones. */
export function createNames(prefix: string, building?: Generations): Names {
  // Stricter than Elasticsearch: no wildcards and no characters that need escaping in a path.
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(prefix))
    throw new Failure('usage', `The prefix '${prefix}' of the indices does not match [a-z0-9][a-z0-9_-]{0,63}.`)
  const first = buildNames(prefix, building ?? {}, building !== undefined)
  return building === undefined ? { ...first, meta: first.served('meta') } : first
}

function buildNames(prefix: string, generations: Generations, building: boolean): Names {
  const served = (name: string) => `${prefix}-${name}`
  const generationOf = (name: string): number => generations[name] ?? 0
  const behind = (name: string) => `${served(name)}-${generationOf(name)}`
  // The first generation has the served aliases; a later one gets them when it is served.
  const own = (name: string) => (generationOf(name) === 0 ? served(name) : `${served(name)}-v${generationOf(name)}`)
  const partitionOf = ({ name }: HistoryIndex, partition: number) => {
    const digits = String(partition).padStart(6, '0')
    return `${generationOf(name) === 0 ? served(name) : behind(name)}-${digits}`
  }
  return {
    prefix,
    generations,
    meta: own('meta'),
    keys: served('keys'),
    state: index => behind(getStateIndex(index)),
    states: STATE_INDICES.map(behind),
    into: index => own(getStateIndex(index)),
    partition: partitionOf,
    intoPartition: (index, partition) => `${partitionOf(index, partition)}-into`,
    behind,
    own,
    served,
    at: other => buildNames(prefix, other ?? generations, building),
    building,
  }
}

/** Names per request: its first line is limited to 4 KiB, and a name can have 80 characters. */
export const INDICES_AT_ONCE = 40

export function splitNames(indices: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(indices.length / INDICES_AT_ONCE) }, (_, at) =>
    indices.slice(at * INDICES_AT_ONCE, (at + 1) * INDICES_AT_ONCE),
  )
}

/** Like `splitNames`, with the names of each list joined by commas. */
export function joinParts(indices: readonly string[]): readonly string[] {
  return splitNames(indices).map(String)
}

/** One store in an Elasticsearch cluster, for functions that write. */
export type Cluster = Sender & {
  readonly names: Names
  readonly replicas: number
  /** Time after which a lease expires unless it is renewed, milliseconds. */
  readonly leaseMs: number
  /** Called for each state document that may be cached. */
  readonly onCacheRead?: ((isHit: boolean) => void) | undefined
  readonly onCall?: ((end: CallEnd) => void) | undefined
}

/** One store in an Elasticsearch cluster, for functions that only read. */
export type ReadCluster = { readonly connection: ElasticConnection; readonly names: Names }

/** The same store with other generations of its indices; undefined: unchanged. */
export function selectGenerations<C extends ReadCluster>(cluster: C, generations: Generations | undefined): C {
  return { ...cluster, names: cluster.names.at(generations) }
}
