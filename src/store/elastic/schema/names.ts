import { Failure } from '#failure/failure.ts'
import type { HistoryIndex, StateIndex } from '#indices/registry.ts'
import { STATE_INDICES, stateIndexOf } from './state-ids.ts'

/**
 * The generation of each index, by its name without prefix; absent: 0. A migration builds the next one beside
 * it. Checkpoint and published height contain it, so their readers stay with one generation.
 */
export type Generations = Readonly<Record<string, number>>

/** Names of the indices with a prefix. */
export type Names = {
  readonly prefix: string
  readonly generations: Generations
  /** Alias: checkpoint and published height. In `namesOf` it points to whichever generation is served. */
  readonly meta: string
  /** Alias: API keys. */
  readonly keys: string
  /** Index from which documents of a kind of state are read. */
  readonly state: (index: StateIndex) => string
  /** All indices of state. */
  readonly states: readonly string[]
  /** Alias under which state is written: with `require_alias` a write cannot recreate a deleted index. */
  readonly into: (index: StateIndex) => string
  /** Alias over all partitions. */
  readonly history: (index: HistoryIndex) => string
  readonly partition: (index: HistoryIndex, partition: number) => string
  /** Alias under which a partition is written, for the same reason. */
  readonly intoPartition: (index: HistoryIndex, partition: number) => string
  /** Concrete index of a name without prefix; not for partitions of history. */
  readonly behind: (name: string) => string
  /** Alias of the generation, assigned to its indices at their creation. */
  readonly own: (name: string) => string
  /** Alias of the served generation. */
  readonly served: (name: string) => string
  /** The same names for other generations; undefined: unchanged. */
  readonly at: (generations: Generations | undefined) => Names
  /** Whether the indices are being built, so that no reader uses them. */
  readonly building: boolean
}

const PARTITION_DIGITS = 6

/** `building`: the generations that are being built beside the served ones. */
export const namesOf = (prefix: string, building?: Generations): Names => {
  // Stricter than Elasticsearch: no wildcards and no characters that need escaping in a path.
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(prefix))
    throw new Failure('usage', `The prefix '${prefix}' of the indices does not match [a-z0-9][a-z0-9_-]{0,63}.`)
  const first = namesAt(prefix, building ?? {}, building !== undefined)
  return building === undefined ? { ...first, meta: first.served('meta') } : first
}

const namesAt = (prefix: string, generations: Generations, building: boolean): Names => {
  const served = (name: string) => `${prefix}-${name}`
  const generationOf = (name: string): number => generations[name] ?? 0
  const behind = (name: string) => `${served(name)}-${generationOf(name)}`
  // The first generation has the served aliases; a later one gets them when it is served.
  const own = (name: string) => (generationOf(name) === 0 ? served(name) : `${served(name)}-v${generationOf(name)}`)
  const partitionOf = ({ name }: HistoryIndex, partition: number) => {
    const digits = String(partition).padStart(PARTITION_DIGITS, '0')
    return `${generationOf(name) === 0 ? served(name) : behind(name)}-${digits}`
  }
  return {
    prefix,
    generations,
    meta: own('meta'),
    keys: served('keys'),
    state: index => behind(stateIndexOf(index)),
    states: STATE_INDICES.map(behind),
    into: index => own(stateIndexOf(index)),
    history: index => own(index.name),
    partition: partitionOf,
    intoPartition: (index, partition) => `${partitionOf(index, partition)}-into`,
    behind,
    own,
    served,
    at: other => namesAt(prefix, other ?? generations, building),
    building,
  }
}

/** Names per request: its first line is limited to 4 KiB, and a name can have 80 characters. */
export const INDICES_AT_ONCE = 40

/** Lists of names, each short enough for one request. */
export const partsOf = (indices: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(indices.length / INDICES_AT_ONCE) }, (_, at) =>
    indices.slice(at * INDICES_AT_ONCE, (at + 1) * INDICES_AT_ONCE),
  )

/** Like `partsOf`, with the names of each list joined by commas. */
export const inParts = (indices: readonly string[]): readonly string[] => partsOf(indices).map(String)
