import type { Batch } from './batch.ts'

/**
 * How many batches can be taken back. A false last irreversible block of a node shows within hours, and further from the
 * head a node has nothing to take back.
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

/** Whether the old documents of a batch are kept, so that it can be taken back. */
export const isKept = ({ first, end }: Pick<Batch, 'first' | 'end'>): boolean =>
  first > 0 && end.lib - end.height <= KEPT.near
