import type { BlockDocuments } from '#derive/derive-block.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import type { Filling, Writer } from '#store/port.ts'

/**
 * Follows which partition of history blocks go to, ahead of what is committed. Only what blocks hold decides, never how
 * they are put into batches: a list's document says in which partitions its rows are, and has to be the same for any.
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
