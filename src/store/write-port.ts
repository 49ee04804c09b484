import type { TransactionDoc } from '#indices/transaction.ts'
import type { BatchBounds, BatchEnd, Filling, History } from './batch.ts'
import type { Identity, Published } from './published.ts'
import type { RepairWriter } from './repair-port.ts'
import type { StateReader } from './state-port.ts'

export type WritePort = {
  /**
   * Takes over the store for writing. Throws 'conflict' while another loader is alive, when the stored derivation
   * version, chain id or genesis differ from `identity`, when a repair was not finished, or when loaded data is lost.
   * With `repair` the data is accepted as it is, and missing indices are created, which `rewrite` fills.
   */
  takeOver(identity: Identity, options?: { readonly repair?: boolean }): Promise<Writer>
}

/** The partitioning of history. */
export type WriterPartitions = {
  /** The filling as of the last committed batch. */
  readonly filling: Filling
  /**
   * Number of documents in a full partition: the block after it opens the next one. The split depends only on
   * the content of the chain, so any sequence of batches leads to the same partitions.
   */
  readonly documents: number
}

/** The one process that writes: a loader, or a repair. */
export type Writer = RepairWriter & {
  /** End of the last committed batch; undefined: none yet. */
  readonly checkpoint: Published | undefined
  /** The least height at which the next batch may end; undefined: any. See `Checkpoint.floor` of Elasticsearch. */
  readonly floor?: number | undefined
  /** Absent in stores without partitions. */
  readonly partitions?: WriterPartitions
  /** Batch size that suits the store; the stored data does not depend on it. */
  readonly bounds: BatchBounds
  /**
   * The state of the last committed batch. A store whose state is elsewhere is copied first, as far as the loader's own
   * file lacks it; all batches that are committed from then on are in that file, too.
   */
  openState(): Promise<StateReader>
  /** Transactions of committed batches with one of these hashes, unordered. */
  transactionsOf(hashes: readonly string[]): Promise<readonly TransactionDoc[]>
  /**
   * Appends history to the next batch: whole consecutive blocks, all of one partition. The store writes them
   * at once or with the batch; no reader sees them before the batch is committed. `commit` of the previous
   * batch must have been called, and may still be under way. After a failure of this call or of a batch, the
   * appended history is discarded: take over the store again, or append the batch anew.
   */
  append(history: History): Promise<void>
  /**
   * Stores and publishes the batch of all history appended since the last call, which begins right after the
   * checkpoint. Waits until the history is written. Returns when the batch is committed and published; throws
   * 'conflict' when another writer took over. If the process is killed, the store is as before or as after.
   */
  commit(end: BatchEnd): Promise<void>
  release(): Promise<void>
}
