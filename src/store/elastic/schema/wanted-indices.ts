import { historyIndices, stateIndices } from '#indices/registry.ts'
import { type IndexShape, journalShape, keysShape, metaShape, shapeOf } from './mappings.ts'
import type { Names } from './names.ts'
import { FIRST_PARTITION, type Partitions } from './partitions.ts'

export type Wanted = {
  /** Without prefix, generation and partition. */
  readonly of: string
  readonly name: string
  readonly alias: string
  /** Alias under which it is written. */
  readonly into: string
  readonly shape: IndexShape
  /** First height of the partition of history that it is. */
  readonly from?: number
}

/** Every index behind a prefix, with its alias and shape; history as far as it is split. */
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
  ...stateIndices.map(index => behind(names, index.name, shapeOf(index))),
  behind(names, 'meta', metaShape),
  behind(names, 'journal', journalShape),
  // Keys are of no generation of documents: whoever adds or asks for one needs not know of them.
  ...(names.building ? [] : [{ ...behind(names, 'keys', keysShape), alias: names.keys, into: names.keys }]),
]

const behind = (names: Names, of: string, shape: IndexShape): Wanted => ({
  of,
  name: names.behind(of),
  alias: names.own(of),
  into: names.own(of),
  shape,
})
