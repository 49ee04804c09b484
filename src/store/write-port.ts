import type { BalanceDoc } from '#indices/balance.ts'
import type { Change, Key } from '#indices/registry.ts'
import type { StandingRange } from '#indices/standing.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { BatchBounds, BatchEnd, Filling, History } from './batch.ts'
import type { Identity, Published } from './published.ts'
import type { RepairWriter } from './repair-port.ts'

export type WritePort = {
  /**
   * Takes the store over for writing. Throws 'conflict' while another loader is alive, when the stored derivation version,
   * chain id or genesis differ from `identity`, when a repair was not finished, or when loaded data is lost. `repair`: for a
   * repair, which accepts the data as it is and creates missing indices, which `rewrite` fills.
   */
  takeOver(identity: Identity, options?: { readonly repair?: boolean }): Promise<Writer>
}

/** How a store splits history. */
export type WriterPartitions = {
  /** As of the last committed batch. */
  readonly filling: Filling
  /**
   * A partition with this number of documents is full: the next block opens the next one. It depends only on the content of the
   * chain, so any batches lead to the same partitions.
   */
  readonly documents: number
}

/** The one process that writes: a loader, or a repair. */
export type Writer = RepairWriter & {
  /** Last committed batch's end; undefined: nothing yet. */
  readonly checkpoint: Published | undefined
  /** Absent where history is kept in one piece. */
  readonly partitions?: WriterPartitions
  /** What batches suit the store; what is stored does not depend on them. */
  readonly bounds: BatchBounds
  /** State as of the last committed batch, in the order of `keys`. */
  getMany(keys: readonly Key[]): Promise<readonly (Change['doc'] | undefined)[]>
  /** Transactions of committed batches that have one of these hashes, in no order. */
  transactionsOf(hashes: readonly string[]): Promise<readonly TransactionDoc[]>
  /** Balances with `next_due` in (`after`, `until`], by next_due, then id. */
  due(range: {
    readonly after?: bigint
    readonly until: bigint
    readonly limit: number
  }): Promise<readonly BalanceDoc[]>
  /**
   * Documents of a counted order in a range, best first. While a batch is being committed, its documents may be seen as
   * before or as after it; all others are there.
   */
  members(range: StandingRange): Promise<readonly Change['doc'][]>
  /**
   * Appends history to the next batch: that of whole blocks, each right after the one before, all of one partition. The
   * store writes it at once or with the batch; nobody sees it before the batch is committed. `commit` of the batch before
   * must have been called, and may still be under way. After a failure, of this or of a batch, what was appended to it is
   * void: the store is taken over again, or the batch appended anew.
   */
  append(history: History): Promise<void>
  /**
   * Stores and publishes the batch of all history appended since the last call, which begins right after the checkpoint;
   * waits for its history to be written. Returns when it is committed and published; throws 'conflict' when another writer
   * took over. Killed at any moment, the store is as before or as after.
   */
  commit(end: BatchEnd): Promise<void>
  release(): Promise<void>
}
