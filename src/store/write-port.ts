import type { BalanceDoc } from '#indices/balance.ts'
import type { Change, Key } from '#indices/registry.ts'
import type { StandingRange } from '#indices/standing.ts'
import type { Batch, BatchBounds, Filling, History } from './batch.ts'
import type { Mender } from './mender-port.ts'
import type { Identity, Published } from './published.ts'

export type WritePort = {
  /**
   * Takes the store over for writing. Throws 'conflict' while another loader is alive, when the stored derivation version,
   * chain id or genesis differ from `identity`, when a repair was not finished, or when loaded data is lost. `mending`: for a
   * repair, which accepts the data as it is and creates missing indices, which `rewrite` fills.
   */
  takeOver(identity: Identity, options?: { readonly mending?: boolean }): Promise<Writer>
}

/** How a store splits history. */
export type WriterPartitions = {
  /** As of the last committed batch. */
  readonly filling: Filling
  /**
   * A partition with so many documents is full: the next block opens the next one. It depends only on the content of the
   * chain, so any batches lead to the same partitions.
   */
  readonly documents: number
}

/** The one process that writes: a loader, or a repair. */
export type Writer = Mender & {
  /** Last committed batch's end; undefined: nothing yet. */
  readonly checkpoint: Published | undefined
  /** Absent where history is kept in one piece. */
  readonly partitions?: WriterPartitions
  /** What batches suit the store; what is stored does not depend on them. */
  readonly bounds: BatchBounds
  /** State as of the last committed batch, in the order of `keys`. */
  getMany(keys: readonly Key[]): Promise<readonly (Change['doc'] | undefined)[]>
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
   * Stores history of the next batch, block after block, so that nobody has to keep it; the batch then has the rest. Not
   * visible until that batch is committed. `commit` of the batch before must have been called, and may still be under way.
   * After a failure, of this or of a batch, history stored ahead is void: take the store over again. Absent where a larger
   * batch would be no cheaper.
   */
  readonly stage?: (history: History) => Promise<void>
  /**
   * Stores and publishes a batch that begins right after the checkpoint. Returns when it is committed and published;
   * throws 'conflict' when another writer took over. Killed at any moment, the store is as before or as after.
   */
  commit(batch: Batch): Promise<void>
  release(): Promise<void>
}
