import type { BalanceDoc } from '#indices/balance.ts'
import type { BlockDoc } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import type { ListDoc } from '#indices/list.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { AnyIndex, Change, HistoryIndex, Key, StateIndex } from '#indices/registry.ts'
import type { StandingRange } from '#indices/standing.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import type { Migrating } from './migrating-port.ts'
import type { Proved } from './proved.ts'
import type { Restored, Settled } from './restored.ts'

/** How far the chain is stored and published, and what was known of the node then. Answers are true at `height`. */
export type Published = {
  readonly height: number
  readonly hash: string
  /** Time of that block, nanoseconds since 1970. */
  readonly time: bigint
  /** The node's last irreversible block when this was written. */
  readonly lib: number
  /** How far the blocks up to it were proved; absent in what older versions wrote. */
  readonly proved?: Proved
}

/** Which chain is stored, by what rules. */
export type Identity = {
  readonly chainId: number
  readonly genesis: string
  /** `DERIVATION` of the loader that began it. */
  readonly derivation: number
}

/**
 * How far history has come in the partition it goes to. Partitions (0, 1, 2 …) hold whole blocks and are filled one after
 * the other; a store that keeps history in one piece has partition 0 only.
 */
export type Filling = {
  readonly partition: number
  /** Blocks, transactions and records in it, together. */
  readonly documents: number
}

/** Documents of a run of blocks, and the partition they go to, with them. */
export type History = Pick<Batch, 'blocks' | 'transactions' | 'records' | 'filling'>

/**
 * A run of blocks as documents: complete or absent, whatever happens while it is written. Its history is what was stored
 * ahead (`Writer.stage`) and what is here.
 */
export type Batch = {
  readonly first: number
  /** Height, hash, time of the last block; the node's lib. */
  readonly end: Published
  readonly blocks: readonly BlockDoc[]
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
  /** The partition its history goes to, and what is in there with it. One more than the last: this batch opens it. */
  readonly filling: Filling
  /** The last word on each thing the batch touched; one change per (index, id). */
  readonly changes: readonly Change[]
}

/** Where documents live: Elasticsearch or an embedded SQLite file. Both pass `test/store/suite`; a difference is a bug. */
export type Store = {
  /** `sqlite:…` or the URL without credentials, for messages. */
  readonly name: string
  /**
   * Creates what is missing. Refuses ('conflict') when an index or table exists with another mapping, and says which
   * command helps. Safe to repeat.
   */
  create(): Promise<void>
  /** Names what differs from what `create` would make; [] when all is as it should be. Changes nothing. */
  check(): Promise<readonly Difference[]>
  /** Throws 'unavailable', with what helps, while something that was loaded is known to be lost. */
  whole(signal?: AbortSignal): Promise<void>
  /** For a repair, before all else: writes what the store says of its end and chain anew where that is lost. */
  restore(): Promise<Restored>
  /** undefined: nothing published yet. */
  published(): Promise<Published | undefined>
  identity(): Promise<Identity | undefined>
  /**
   * Runs `work` on a view of one published height, and again if the height moved meanwhile.
   * Throws 'unavailable': nothing published, out of reach or, but for auditors (`damaged`), not `whole`; else 'deadline'.
   */
  read<T>(work: (view: View) => Promise<T>, options?: ReadOptions): Promise<T>
  /**
   * Takes the store over for writing. Throws 'conflict' while another loader is alive or when the stored derivation
   * version, chain id or genesis differ from `identity`, or a repair did not end, or what was loaded is gone. `mending`: for
   * a repair, which takes what is stored as it stands and makes missing indices, for `rewrite` to fill.
   */
  takeOver(identity: Identity, options?: { readonly mending?: boolean }): Promise<Writer>
  /**
   * Merges each finished partition of history for good and makes it read-only; those that are so already are skipped.
   * Safe to repeat, and while the store is read and written. A store in one piece has none.
   */
  merge(options: MergeOptions): Promise<void>
  /** First height of each partition of history, by number; a store in one piece has [0]. */
  partitions(): Promise<readonly number[]>
  /** Everything that is stored, of one published height, as it stands. Throws 'unavailable' when nothing is published. */
  audit(): Promise<Audit>
  readonly keys: KeyStore
  readonly migrating: Migrating
  close(): Promise<void>
}

export type ReadOptions = { readonly signal?: AbortSignal; readonly damaged?: true }

export type MergeOptions = {
  readonly signal: AbortSignal
  readonly onProgress: (progress: MergeProgress) => void
}

export type MergeProgress = {
  readonly name: string
  readonly state: 'merging' | 'merged' | 'skipped'
  /** Which one it is of how many, from 1. */
  readonly at: number
  readonly of: number
}

export type Difference = {
  /** Index or table. */
  readonly name: string
  readonly problem: 'missing' | 'different' | 'lost'
  /** What is stored against what is expected; one line. */
  readonly detail: string
}

/** One published height, seen as a whole. */
export type View = {
  readonly at: Published
  /** A thing by its id. */
  get<I extends AnyIndex>(index: I, id: string): Promise<DocOf<I> | undefined>
  /** Things by their ids, in that order. */
  getMany<I extends AnyIndex>(index: I, ids: readonly string[]): Promise<readonly (DocOf<I> | undefined)[]>
  /** Documents whose field equals `value` (a field of `finds`), at most a handful, in order of id. */
  find<I extends HistoryIndex>(
    index: I,
    field: I['finds'][number],
    value: bigint,
  ): Promise<readonly DocOf<I>[]>
  /** `limit` documents of an order of the index after the first `offset`; `group` where the order has one. */
  page<I extends StateIndex>(
    index: I,
    order: keyof I['orders'] & string,
    options: { readonly group?: string; readonly offset: number; readonly limit: number },
  ): Promise<readonly DocOf<I>[]>
  /** Rows with ordinals `first` … `last` (from 1, inclusive) of a list, ascending. Same cost wherever they stand. */
  records(list: ListDoc, first: number, last: number): Promise<readonly RecordDoc[]>
  /**
   * When the rows with these ordinals of a list were made, in one request: `ordinals` ascending, each once, within
   * 1 … `list.count`, from one to 32.
   */
  moments(list: ListDoc, ordinals: readonly number[]): Promise<readonly Moment[]>
}

/** When a row was made. Along a list neither ever falls: rows of one block share both. */
export type Moment = {
  readonly height: number
  /** Time of that block, nanoseconds since 1970. */
  readonly time: bigint
}

/** A stored document as it was met. */
export type Found<I extends AnyIndex = AnyIndex> = {
  readonly id: string
  /** undefined: what is stored can not be read. */
  readonly doc: DocOf<I> | undefined
  /** Where it stands, when that is a place where no reader would look for it (a second one of its id). */
  readonly stray?: string
}

export type Placed = { readonly place: bigint; readonly id: string }

/** What is stored, of one height: for auditors, who trust nothing. Each answer is bounded, whatever is stored. */
export type Audit = {
  readonly at: Published
  /** Every document of an index once, page by page, in an order of the store's own; history up to `at` only. */
  scan<I extends AnyIndex>(index: I): AsyncIterable<readonly Found<I>[]>
  /** Documents by their ids, in that order; undefined also for what is stored and can not be read. */
  getMany<I extends AnyIndex>(index: I, ids: readonly string[]): Promise<readonly (DocOf<I> | undefined)[]>
  /** Which of the ids are stored. */
  existing(index: AnyIndex, ids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Rows with places after `after` up to `until`, ascending, all when there are at most `limit` (≤ 5,000), else some
   * of them, more than `limit`.
   */
  placed(range: {
    readonly after: bigint
    readonly until: bigint
    readonly limit: number
  }): Promise<readonly Placed[]>
  close(): Promise<void>
}

/** What a repair writes: documents as they should be, ids that should not be there. History and state alike. */
export type Rewrite = {
  readonly put: readonly { readonly index: AnyIndex; readonly doc: DocOf<AnyIndex> }[]
  readonly remove: readonly { readonly index: AnyIndex; readonly id: string; readonly stray?: string }[]
  /** Places at which a row is found that has none there. */
  readonly unplace: readonly bigint[]
}

/** The one process that writes. */
export type Writer = {
  /** Last committed batch's end; undefined: nothing yet. */
  readonly checkpoint: Published | undefined
  /** As of the last committed batch. */
  readonly filling: Filling
  /**
   * A partition with so many documents is full: the next block opens the next one. A matter of the chain's content
   * alone, so any batches lead to the same partitions. Infinity: all goes to partition 0.
   */
  readonly partitionDocuments: number
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
   * Stores history of the batch that comes next, block after block, so that nobody has to hold it: the batch then has
   * the rest. Nobody sees it until that batch is committed. May go on while the batch before is being committed. After a
   * failure, of this or of a batch, what was stored ahead counts for nothing: take the store over anew. Absent where a
   * larger batch would be no cheaper.
   */
  readonly stage?: (history: History) => Promise<void>
  /**
   * Stores and publishes a batch that begins right after the checkpoint. Returns when it is committed and published;
   * throws 'conflict' when another writer took over. Killed at any moment, the store is as before or as after.
   */
  commit(batch: Batch): Promise<void>
  /**
   * Puts right what is stored at or below the checkpoint; published height and keys stay as they are. May be repeated:
   * killed at any moment, each document is as before or as after.
   */
  rewrite(rewrite: Rewrite): Promise<void>
  /** A repair did not come to its end, or a loader left what can not be understood: state is of no known height. */
  readonly unfinished: boolean
  /** A stored block, whatever is published; undefined: there is none. */
  blockAt(height: number): Promise<BlockDoc | undefined>
  /**
   * Where the last batch ended by each of the places that say so, all of them independent of each other: what most of
   * them say is so, whichever of them was damaged.
   */
  endings(): Promise<readonly number[]>
  /**
   * Takes batches back until the end is at `height` or below: state as it was then, no history above, height and hash
   * published. The new end; undefined: what is kept does not lead so far, and nothing was done. Killed at any moment, the
   * store is as before, as after, or closed to everybody but a repair, which begins anew.
   */
  takeBack(height: number): Promise<Published | undefined>
  /**
   * Says which chain is stored and where it ends, whatever was said before; history above the end is removed. `open`
   * false: nobody reads or loads until it is called again. The caller answers for the state.
   */
  settle(settled: Settled): Promise<void>
  /** What is stored now counts as all that belongs there. Absent where no part can be lost alone. */
  readonly accept?: () => Promise<void>
  release(): Promise<void>
}

/** What is kept of an API key: never the key itself. */
export type StoredKey = {
  /** Public handle: `list` shows it, `revoke` takes it. */
  readonly id: string
  /** SHA-256 of the key, hexadecimal. */
  readonly hash: string
  readonly name: string
  readonly perSecond: number
  readonly perDay: number
  /** Milliseconds since 1970. */
  readonly created: number
  readonly expires?: number
  readonly revoked?: number
}

export type KeyStore = {
  /** Throws 'conflict' when the id exists. */
  add(key: StoredKey): Promise<void>
  /** All keys, by time of creation, then id. */
  list(signal?: AbortSignal): Promise<readonly StoredKey[]>
  /** Marks as revoked now; false: no such id. Revoking twice keeps the first time. */
  revoke(id: string, now: number): Promise<boolean>
}

/** What keys asked in a UTC day, by all processes that share it. */
export type Usage = {
  /** Adds to the counts of a day (days since 1970) and gives all of that day, by key. Throws 'unavailable'. */
  add(day: number, counts: ReadonlyMap<string, number>): ReadonlyMap<string, number>
  close(): void
}
