import { historyIndices } from '#indices/registry.ts'
import { type IndexShape, keysShape, metaShape, shapeOf, stateShapes } from './mappings.ts'
import type { Names } from './names.ts'
import { FIRST_PARTITION, type Partitions } from './partitions.ts'
import { STATE_INDICES } from './state-ids.ts'

export type Wanted = {
  /** Name without prefix, generation and partition. */
  readonly of: string
  readonly name: string
  readonly alias: string
  /** Alias under which the index is written. */
  readonly into: string
  readonly shape: IndexShape
  /** First height of a partition of history. */
  readonly from?: number
}

/** Every index of a store, with its alias and shape; history in its partitions. */
export const wantedIndices = (names: Names, partitions: Partitions = FIRST_PARTITION): readonly Wanted[] => [
  ...historyIndices.flatMap(index =>
    partitions.map((from, partition) => ({
      of: index.name,
      name: names.partition(index, partition),
      alias: names.history(index),
      into: names.intoPartition(index, partition),
      shape: shapeOf(index),
      from,
    })),
  ),
  ...STATE_INDICES.map(name => behind(names, name, stateShapes[name])),
  behind(names, 'meta', metaShape),
  // API keys do not belong to a generation of documents.
  ...(names.building ? [] : [{ ...behind(names, 'keys', keysShape), alias: names.keys, into: names.keys }]),
]

const behind = (names: Names, of: string, shape: IndexShape): Wanted => ({
  of,
  name: names.behind(of),
  alias: names.own(of),
  into: names.own(of),
  shape,
})
