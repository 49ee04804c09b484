import type { Batch } from './batch.ts'

/**
 * How much is kept to take batches back: what a node said wrongly of its last irreversible block shows within hours, and
 * further from the head nothing can be wrong that a node could take back.
 */
export const KEPT = {
  /** Blocks: four hours of the chain. */
  heights: 28_800,
  /** Of all batches that are kept. */
  bytes: 128_000_000,
  /** Of one batch. */
  batchBytes: 16_000_000,
  /** Blocks behind the node's last irreversible one from which on nothing is kept. */
  near: 1_000,
} as const

/** Whether what a batch changes is kept, so that it can be taken back. */
export const isKept = ({ first, end }: Pick<Batch, 'first' | 'end'>): boolean =>
  first > 0 && end.lib - end.height <= KEPT.near
