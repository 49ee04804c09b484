import { Failure } from '#failure/failure.ts'
import type { Batch } from '#store/port.ts'

/**
 * First height of each partition, by number. The partition of a block follows from its height and this list,
 * which is in the checkpoint. Blocks, transactions and records have the same partitions.
 */
export type Partitions = readonly number[]

export const FIRST_PARTITION: Partitions = [0]

/** The partitions after a batch; the same list if it opens none. Throws 'defect' if it opens any but the next. */
export const partitionsWith = (
  partitions: Partitions,
  { first, filling }: Pick<Batch, 'first' | 'filling'>,
): Partitions => {
  if (filling.partition === partitions.length - 1) return partitions
  if (filling.partition === partitions.length) return [...partitions, first]
  throw new Failure(
    'defect',
    `Batch from block ${first} belongs to partition ${filling.partition}, but the last one is ${partitions.length - 1}.`,
  )
}

/** Number of the partition of a height. */
export const partitionAt = (partitions: Partitions, height: number): number => {
  let at = partitions.length - 1
  while (at > 0 && (partitions[at] ?? 0) > height) at--
  return at
}
