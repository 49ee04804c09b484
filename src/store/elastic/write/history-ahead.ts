import { Failure } from '#failure/failure.ts'
import type { Batch, BatchEnd, History } from '#store/port.ts'
import { type Ahead, appendedHistory, type Bounds, batchWith, checkHistory, isFull } from '../../batch.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { createPartition } from '../schema/create-partition.ts'
import { type Added, addedBy, type LastIds, lastIdsOf, sumOf } from '../schema/inventory.ts'
import { partitionsWith } from '../schema/partitions.ts'
import { writeHistory } from './history.ts'

/** History that was written ahead of its batch. */
export type Stored = {
  /** Height of its first block. */
  readonly first: number
  readonly last: Ahead
  readonly filling: History['filling']
  /** Number of its documents. */
  readonly added: Added
  readonly lastIds: LastIds
  /** Settles when all of it is written, rejects if a write failed. */
  readonly written: Promise<void>
}

type Options = {
  readonly cluster: Cluster
  readonly checkpoint: () => Pick<Checkpoint, 'end' | 'partitions' | 'filling'>
  /** Appended history of this size is written at once; less is held, and written with the batch in one bulk. */
  readonly piece: Bounds
}

const NO_DOCUMENTS = { blocks: [], transactions: [], records: [] } as const

/** The batch that is being committed; `done` settles when that has ended. */
type Under = { readonly batch: Batch; readonly done: Promise<void> }

/**
 * History of the next batch. A large batch's is written while the batch is derived: above the checkpoint, where no reader
 * looks and the next loader cleans up, so it counts only until something fails.
 */
export const historyAhead = ({ cluster, checkpoint, piece }: Options) => {
  const held = appendedHistory()
  let under: Under | undefined
  let stored: Stored | undefined
  let last: Promise<void> = Promise.resolve()

  const write = async (history: History, after: Promise<void> | undefined): Promise<void> => {
    const { partition } = history.filling
    if (after !== undefined) {
      // A cleanup looks no further than one partition beyond that of the checkpoint.
      await after
      await createPartition(cluster, partition)
    }
    await writeHistory(cluster, { partition, history })
  }
  /** Whether history that begins a batch opens a partition. */
  const opens = (first: number, filling: History['filling']): boolean => {
    const { partitions } = checkpoint()
    const before = under === undefined ? partitions : partitionsWith(partitions, under.batch)
    return partitionsWith(before, { first, filling }) !== before
  }
  /** The block after all that was committed, is being committed or was written ahead. */
  const nextHeight = (): number => ((stored?.last ?? under?.batch.end ?? checkpoint().end)?.height ?? -1) + 1
  const store = async (history: History): Promise<void> => {
    cluster.requireLease?.()
    const first = nextHeight()
    checkHistory(history, first)
    const end = history.blocks.at(-1)
    if (end === undefined) return
    const { filling } = history
    if (stored !== undefined && stored.filling.partition !== filling.partition)
      throw new Failure('defect', `History of block ${first} belongs to another partition than its batch.`)
    const after =
      stored === undefined && opens(first, filling) ? (under?.done ?? Promise.resolve()) : undefined
    // After a failed write nothing more is written.
    const written = (stored?.written ?? last).then(() => write(history, after))
    const added = addedBy(history)
    stored = {
      first: stored?.first ?? first,
      last: { height: end.height, hash: end.hash, time: end.time },
      filling,
      added: stored === undefined ? added : sumOf(stored.added, added),
      lastIds: { ...stored?.lastIds, ...lastIdsOf(history) },
      written,
    }
    last = written.catch(() => {})
    await written
  }
  return {
    append: async (history: History): Promise<void> => {
      held.add(history)
      if (!isFull(held.size, piece)) return
      const full = held.take()
      if (full !== undefined) await store(full)
    },
    /**
     * Commits the batch of what was appended: `work` gets what of it was written ahead, and the batch with the rest. From
     * here on history belongs to the next batch.
     */
    commit: async (
      end: BatchEnd,
      work: (batch: Batch, stored: Stored | undefined) => Promise<void>,
    ): Promise<void> => {
      const own = stored
      const rest = held.take() ?? { ...NO_DOCUMENTS, filling: own?.filling ?? checkpoint().filling }
      const batch = { ...batchWith(rest, end, nextHeight()), ...(own && { first: own.first }) }
      stored = undefined
      const done = work(batch, own)
      const mine = { batch, done: done.catch(() => {}) }
      under = mine
      try {
        await done
      } finally {
        if (under === mine) under = undefined
      }
    },
    /** Ends when no write is under way; the history written ahead is discarded. */
    forget: async (): Promise<void> => {
      stored = undefined
      await last
    },
  }
}
