import { Failure } from '#failure/failure.ts'
import type { Batch, BatchEnd, History } from '#store/port.ts'
import { appendedHistory, type Bounds, batchWith, checkHistory, isFull, type WrittenAhead } from '../../batch.ts'
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
  readonly last: WrittenAhead
  readonly filling: History['filling']
  /** Number of its documents. */
  readonly added: Added
  readonly lastIds: LastIds
  /** Settles when all history is written; rejects if a write failed. */
  readonly written: Promise<void>
}

type Options = {
  readonly cluster: Cluster
  readonly checkpoint: () => Pick<Checkpoint, 'end' | 'partitions' | 'filling'>
  /** Appended history of this size is written at once; less is buffered and written with the batch in one bulk. */
  readonly chunk: Bounds
}

const NO_DOCUMENTS = { blocks: [], transactions: [], records: [] } as const

/** The batch that is being committed; `done` settles when the commit does. */
type Under = { readonly batch: Batch; readonly done: Promise<void> }

/**
 * History of the next batch. For a large batch it is written while the batch is derived: above the
 * checkpoint, where no reader looks and the next loader cleans up. After a failure it is discarded.
 */
export class HistoryAhead {
  private readonly options: Options
  private readonly held = appendedHistory()
  private under: Under | undefined
  private stored: Stored | undefined
  private last: Promise<void> = Promise.resolve()

  constructor(options: Options) {
    this.options = options
  }

  async append(history: History): Promise<void> {
    this.held.add(history)
    if (!isFull(this.held.size, this.options.chunk)) return
    const full = this.held.take()
    if (full !== undefined) await this.store(full)
  }

  /**
   * Commits the batch of the appended history. `work` gets the batch with the remaining history, and the
   * record of the history written ahead. History appended from now on belongs to the next batch.
   */
  async commit(end: BatchEnd, work: (batch: Batch, stored: Stored | undefined) => Promise<void>): Promise<void> {
    const own = this.stored
    const filling = own?.filling ?? this.options.checkpoint().filling
    const rest = this.held.take() ?? { ...NO_DOCUMENTS, filling }
    const batch = { ...batchWith(rest, end, this.nextHeight()), ...(own && { first: own.first }) }
    this.stored = undefined
    const done = work(batch, own)
    const mine = { batch, done }
    this.under = mine
    try {
      await done
    } finally {
      if (this.under === mine) this.under = undefined
    }
  }

  /** Resolves when no write is under way; the history written ahead is discarded. */
  async forget(): Promise<void> {
    this.stored = undefined
    await this.last
  }

  private async store(history: History): Promise<void> {
    this.options.cluster.requireLease?.()
    const first = this.nextHeight()
    checkHistory(history, first)
    const end = history.blocks.at(-1)
    if (end === undefined) return
    const { filling } = history
    const { stored, under } = this
    if (stored !== undefined && stored.filling.partition !== filling.partition)
      throw new Failure('defect', `History of block ${first} belongs to another partition than its batch.`)
    const opens = stored === undefined && this.opens(first, filling)
    const after = opens ? (under?.done ?? Promise.resolve()) : undefined
    // After a failed write no further history is written.
    const written = (stored?.written ?? this.last).then(() => this.write(history, after))
    const added = addedBy(history)
    this.stored = {
      first: stored?.first ?? first,
      last: { height: end.height, hash: end.hash, time: end.time },
      filling,
      added: stored === undefined ? added : sumOf(stored.added, added),
      lastIds: { ...stored?.lastIds, ...lastIdsOf(history) },
      written,
    }
    this.last = written.catch(() => {})
    await written
  }

  private async write(history: History, after: Promise<void> | undefined): Promise<void> {
    const { cluster } = this.options
    const { partition } = history.filling
    if (after !== undefined) {
      // A cleanup covers at most one partition after that of the checkpoint. So nothing is written if the
      // previous batch, which may have opened that partition, failed.
      await after
      await createPartition(cluster, partition)
    }
    await writeHistory(cluster, { partition, history })
  }

  /** Whether history that begins a batch opens a partition. */
  private opens(first: number, filling: History['filling']): boolean {
    const { partitions } = this.options.checkpoint()
    const before = this.under === undefined ? partitions : partitionsWith(partitions, this.under.batch)
    return partitionsWith(before, { first, filling }) !== before
  }

  /** The block after all history that was committed, is being committed or was written ahead. */
  private nextHeight(): number {
    const end = this.stored?.last ?? this.under?.batch.end ?? this.options.checkpoint().end
    return (end?.height ?? -1) + 1
  }
}
