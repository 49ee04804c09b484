import type { BlockDocuments } from '#derive/derive-block.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import type { Filling, Writer } from '#store/port.ts'

/**
 * The partition of each new block's history, ahead of the commits. It depends only on the content of blocks, never on how
 * they are put into batches: the document of a list names the partitions of its rows, and must not depend on batches.
 */
export type Partitioning = {
  /** Where the history of the next block goes. */
  next(): number
  add(documents: BlockDocuments): void
  /** Nothing more goes to the partition of the last block: its batch ends here. */
  full(): boolean
  filling(): Filling
}

/** `partitions` of the writer; absent: all goes to partition 0. */
export const partitioning = (partitions: Writer['partitions']): Partitioning => {
  const most = partitions?.documents ?? Number.POSITIVE_INFINITY
  let filling = partitions?.filling ?? NOTHING_FILLED
  const full = () => filling.documents >= most
  const next = () => (full() ? filling.partition + 1 : filling.partition)
  return {
    next,
    add: ({ transactions, records }) => {
      const before = full() ? 0 : filling.documents
      filling = { partition: next(), documents: before + 1 + transactions.length + records.length }
    },
    full,
    filling: () => filling,
  }
}
