import type { BlockDoc } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import type { ListDoc } from '#indices/list.ts'
import type { ListedRecord, RecordDoc } from '#indices/record.ts'
import type { AnyIndex, HistoryIndex, NamedIndex, StateIndex } from '#indices/registry.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { BatchBounds, BatchEnd, Filling, History } from './batch.ts'
import type { KeyStore, Usage } from './keys-port.ts'
import type { MaintainPort, SettledEnd } from './maintain-port.ts'
import type { Identity, Published } from './published.ts'
import type { StateReader } from './state-port.ts'

/** For services. Every answer reflects a single published height. */
export type ReadPort = {
  /** undefined: nothing is published yet. */
  published(): Promise<Published | undefined>
  identity(): Promise<Identity | undefined>
  /**
   * Runs `work` on a view of one published height, and again if the height moved meanwhile. Throws
   * 'unavailable' if nothing is published, the store is unreachable or not `whole` (auditors set `damaged` to
   * read it still), and 'deadline' when the time is over.
   */
  read<T>(work: (view: View) => Promise<T>, options?: ReadOptions): Promise<T>
  /**
   * A view of the published height that stays readable while later heights are published, for work longer than one
   * answer. It costs the store space until it is closed. `state`: the indices of state that it reads. Throws as `read`
   * does. Reads throw once the view can no longer be kept, and after `signal` has aborted.
   */
  hold(options: HoldOptions): Promise<HeldView>
}

export type HoldOptions = { readonly state: readonly StateIndex[]; readonly signal?: AbortSignal | undefined }

export type HeldView = { readonly view: View; readonly close: () => void }

export type ReadOptions = { readonly signal?: AbortSignal | undefined; readonly damaged?: true }

/** The calls of a store whose ends it reports. */
type StoreCall = 'published' | 'identity' | 'read' | 'hold' | 'takeOver' | 'state' | 'append' | 'commit'

/** The end of a call: its start by `performance.now()`, its error, and its number of retries. Held views are no reads. */
export type CallEnd = {
  readonly call: StoreCall
  readonly since: number
  readonly error?: unknown
  readonly retries?: number
}

export type ReportCall = <T>(call: StoreCall, work: () => Promise<T>) => Promise<T>

export function createReports(onCall: ((end: CallEnd) => void) | undefined): ReportCall {
  if (onCall === undefined) return (_, work) => work()
  return async (call, work) => {
    const since = performance.now()
    let failed: Pick<CallEnd, 'error'> | undefined
    try {
      return await work()
    } catch (error) {
      failed = { error }
      throw error
    } finally {
      onCall({ call, since, ...failed })
    }
  }
}

/** Whether the given documents include all wanted ones. */
export type IsEnough<I extends HistoryIndex> = (docs: readonly DocOf<I>[]) => boolean

/** The whole store at one published height. */
export type View = {
  readonly at: Published
  /** The same object while the visible data is the same, as far as the store caches its reads. Absent: unknown. */
  readonly edition?: object
  get<I extends AnyIndex>(index: I, id: string): Promise<DocOf<I> | undefined>
  /** Documents by their ids, in the order of the ids. */
  getMany<I extends AnyIndex>(index: I, ids: readonly string[]): Promise<readonly (DocOf<I> | undefined)[]>
  /**
   * Documents whose field equals `value` (a field of `finds`), at most a handful, ordered by id. If
   * `IsEnough` rejects the documents found, the store makes sure that none is lacking.
   */
  find<I extends HistoryIndex>(
    index: I,
    field: I['finds'][number],
    value: bigint,
    isEnough?: IsEnough<I>,
  ): Promise<readonly DocOf<I>[]>
  /**
   * The first `limit` documents whose names (`Index.named`) begin with a text, by name. The cost is the same for any
   * text and any number of documents.
   */
  startingWith<I extends NamedIndex>(index: I, text: string, limit: number): Promise<readonly DocOf<I>[]>
  /** `find` for several distinct values in one request: the documents of all of them, ordered by id. */
  findAny<I extends HistoryIndex>(
    index: I,
    field: I['finds'][number],
    values: readonly bigint[],
    isEnough?: IsEnough<I>,
  ): Promise<readonly DocOf<I>[]>
  /** `limit` documents of an order of the index after the first `offset`; `group` if the order has groups. */
  page<I extends StateIndex>(
    index: I,
    order: keyof I['orders'] & string,
    options: { readonly group?: string; readonly offset: number; readonly limit: number },
  ): Promise<readonly DocOf<I>[]>
  /** Rows `first` … `last` (ordinals from 1, inclusive) of a list, ascending. The cost is the same at any depth. */
  records(list: ListDoc, first: number, last: number): Promise<readonly ListedRecord[]>
  /**
   * Rows added to some lists, with all their places, in chain order: the rows of blocks above `height` whose ordinal in
   * a list exceeds the one given for it. `lists`: ordinals by list number. The cost depends on the rows of these
   * blocks, and hardly on the number of lists. A lost row is omitted and leaves a gap in the ordinals.
   */
  newRecords(lists: ReadonlyMap<number, number>, height: number): Promise<readonly RecordDoc[]>
  /**
   * Heights and times of the rows with these ordinals of a list, in one request. `ordinals`: ascending,
   * distinct, within 1 … `list.count`, from one to 32.
   */
  moments(list: ListDoc, ordinals: readonly number[]): Promise<readonly Moment[]>
  /**
   * Times of the published blocks with these distinct heights, in the same order. Only the embedded store reads less than
   * the blocks for them. Throws 'damaged' if one is missing.
   */
  blockTimes(heights: readonly number[]): Promise<readonly bigint[]>
  /**
   * For work that may outlast the publication of the next heights: a view of this height or a later one that
   * stays readable, as from `ReadPort.hold`. Absent: this view stays readable itself.
   */
  readonly hold?: (state: readonly StateIndex[]) => Promise<HeldView>
  /** Ends the reads of the work, so that what it waits for next holds nothing of the store. Then only `at` may be used. */
  release(): void
}

/** Height and time of a row. Neither decreases along a list; rows of one block share both. */
export type Moment = {
  readonly height: number
  /** Time of that block, nanoseconds since 1970. */
  readonly time: bigint
}

/** The steps that bring a store to this version of the program. */
export type MigrationPlan = {
  /** `derive`: all documents are derived anew. */
  readonly way: 'none' | 'derive'
  /** The differences, one line each. */
  readonly reasons: readonly string[]
  /** Indices or files that serve no requests: replaced by an earlier migration, or left by an interrupted one. */
  readonly leftovers: readonly string[]
}

/**
 * Brings a store to this version while it serves requests. The new data replaces all of the served data at
 * once; if the process is killed before that, the served data is unchanged. Every step may be repeated.
 */
export type MigrationPort<S> = {
  /** The served data, by whichever version it was written. Reads throw if this version cannot read the data. */
  readonly source: ReadPort
  plan(): Promise<MigrationPlan>
  /**
   * Lets loaders continue with the served data after a migration was interrupted right before its end and
   * nothing is left to migrate. Absent in stores that a migration never closes.
   */
  readonly reopen?: () => Promise<void>
  /** For `derive`: the store to load into, with the data of an earlier migration of this version; without keys. */
  beside(): Promise<S>
  /**
   * For `derive`: replaces the served data by the store beside it. While no other process writes, `catchUp` loads that
   * store up to the served height. Throws 'conflict' while a loader is alive, or when blocks are missing.
   */
  swap(catchUp: (height: number) => Promise<void>): Promise<void>
  /**
   * Serves the data again that the last migration replaced, and returns its height. May be repeated. Throws 'conflict' if it
   * was deleted. Absent in stores that do not keep it.
   */
  readonly rollBack?: () => Promise<number>
  /** Removes the leftovers and returns their names. */
  removeLeftovers(): Promise<readonly string[]>
}

/** One write of a repair: the correct documents, and the ids of documents to remove. History and state alike. */
export type Rewrite = {
  readonly put: readonly { readonly index: AnyIndex; readonly doc: DocOf<AnyIndex> }[]
  readonly remove: readonly { readonly index: AnyIndex; readonly id: string; readonly stray?: string }[]
  /** Places in lists that point to a row that does not belong there. */
  readonly unplace: readonly bigint[]
}

/** The part of a writer that only repairs use. */
export type RepairWriter = {
  /**
   * Corrects documents at or below the checkpoint; the published height and keys do not change. May be
   * repeated: if the process is killed, each document is as before or as after.
   */
  rewrite(rewrite: Rewrite): Promise<void>
  /** A repair was not finished, or a loader left unreadable records: the height of the state is unknown. */
  readonly unfinished: boolean
  /** Closes the store, which may be empty, to readers and loaders until `settle` opens it. */
  shut(): Promise<void>
  /** A stored block, published or not; undefined: not stored. */
  blockAt(height: number): Promise<BlockDoc | undefined>
  /**
   * Heights at which the last batch ended, one from each of several independent records. The height that most
   * records agree on is right, whichever record was damaged.
   */
  endings(): Promise<readonly number[]>
  /**
   * Reverts batches until the end is at `height` or below: restores the state of that height, removes history
   * above it, and publishes its height and hash. Returns the new end; undefined: the kept batches do not
   * reach that far, and nothing was changed. If the process is killed, the store is as before, as after, or
   * closed to all but a repair, which starts again.
   */
  takeBack(height: number): Promise<Published | undefined>
  /**
   * Sets the identity and the last block of the store and removes history above it. `open` false: the store
   * stays closed to readers and loaders until the next call. The caller vouches for the state.
   */
  settle(settled: SettledEnd): Promise<void>
  /**
   * Removes a loader's uncommitted writes above the last block, and records the stored documents as complete.
   * Absent in stores that cannot lose a part alone.
   */
  readonly accept?: () => Promise<void>
}

/** The one process that writes: a loader, or a repair. */
export type Writer = RepairWriter & {
  /** End of the last committed batch; undefined: none yet. */
  readonly checkpoint: Published | undefined
  /** The least height at which the next batch may end; undefined: any. See `Checkpoint.floor` of Elasticsearch. */
  readonly floor?: number | undefined
  /** The partitioning of history. Absent in stores without partitions. */
  readonly partitions?: {
    /** The filling as of the last committed batch. */
    readonly filling: Filling
    /**
     * Number of documents in a full partition: the block after it opens the next one. The split depends only on the content
     * of the chain, so any sequence of batches leads to the same partitions.
     */
    readonly documents: number
  }
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

export type { Batch, BatchEnd, Filling, History } from './batch.ts'
export type { KeyPage, KeyStore, StoredKey, Usage } from './keys-port.ts'
export type { Audit, MergeOptions, MergeProgress, PlacedRow, StoreDifference, StoredDocument } from './maintain-port.ts'
export type { Identity, Published } from './published.ts'

/**
 * A document store: Elasticsearch or an embedded SQLite file. Both pass `test/store/suite`; a difference is a
 * bug. A capability of only one of them is a property that is absent in the other.
 */
export type Store = ReadPort &
  MaintainPort & {
    /** `sqlite:…` or the URL without credentials, for messages. */
    readonly name: string
    /**
     * Takes over the store for writing. Throws 'conflict' while another loader is alive, when the stored derivation version,
     * chain id or genesis differ from `identity`, when a repair was not finished, or when loaded data is lost. With `repair`
     * the data is accepted as it is, and missing indices are created, which `rewrite` fills.
     */
    takeOver(identity: Identity, options?: { readonly repair?: boolean }): Promise<Writer>
    readonly keys: KeyStore
    readonly usage: Usage
    readonly migrating: MigrationPort<Store>
    close(): Promise<void>
  }
