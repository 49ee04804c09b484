import type { DocOf } from '#indices/define.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { StoredKey } from './keys-port.ts'
import type { Identity, Published } from './published.ts'

/**
 * `whole`: nothing of the record was lost. `exact`: the record was rebuilt as it was, according to all stored data.
 * `open`: the end of the store is unknown; the store is closed to all but a repair that derives the state anew.
 */
export type RestoreOutcome = 'whole' | 'exact' | 'open'

/** The record of a store after a repair. */
export type SettledEnd = { readonly identity: Identity; readonly end: Published; readonly open: boolean }

/** Disks, privileges and settings that a store's server reports. undefined: the user may not read them. */
export type ServerReport = {
  readonly disks: readonly Disk[] | undefined
  /** Privileges for loading that the user lacks; undefined: the server checks none. */
  readonly missingPrivileges: readonly string[] | undefined
  /** Indices that the server made read-only when a disk was full. */
  readonly blocked: readonly string[]
  /** Whether a write to a missing index creates the index. */
  readonly createsIndices: boolean | undefined
}

/** Room on a disk that has a store's data. */
export type DiskRoom = {
  /** The server, or the folder of an embedded store. */
  readonly server: string
  readonly freeBytes: number
  readonly totalBytes: number
}

type Disk = DiskRoom & {
  /** With less free space than this, the server gets no more data. */
  readonly leastBytes: number
}

/** A stored document as the auditor found it. */
export type StoredDocument<I extends AnyIndex = AnyIndex> = {
  readonly id: string
  /** undefined: the stored document cannot be read. */
  readonly doc: DocOf<I> | undefined
  /** Location of a stray document, one that no reader would look for there (a second document with its id). */
  readonly stray?: string
}

export type PlacedRow = { readonly place: bigint; readonly id: string }

/** The stored documents at one height, for auditors, which trust no record. Each answer has a bounded size. */
export type Audit = {
  readonly at: Published
  /** Every document of an index exactly once, page by page, in the store's own order; history only up to `at`. */
  scan<I extends AnyIndex>(index: I): AsyncIterable<readonly StoredDocument<I>[]>
  /** Documents by id, in the order of the ids; undefined also for a stored document that cannot be read. */
  getMany<I extends AnyIndex>(index: I, ids: readonly string[]): Promise<readonly (DocOf<I> | undefined)[]>
  /** The subset of the ids that are stored. */
  existing(index: AnyIndex, ids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Rows with places in (`after`, `until`], ascending. If there are more than `limit` (≤ 5,000), some of them
   * are returned, still more than `limit`; otherwise all.
   */
  placed(range: {
    readonly after: bigint
    readonly until: bigint
    readonly limit: number
  }): Promise<readonly PlacedRow[]>
  close(): Promise<void>
}

/** A snapshot on a server with its own snapshot repositories. */
export type SnapshotName = { readonly repository: string; readonly name: string }

/** `onProgress` gets the server's progress, in bytes. */
export type SnapshotOptions = {
  readonly signal: AbortSignal
  readonly onProgress: (progress: { readonly done: number; readonly of: number }) => void
}

/** The write position of an index of documents, or of one partition of its history. */
export type WritePosition = {
  readonly index: string
  /** Partition number; only for history. */
  readonly partition?: number
  /** Sequence number of the last operation (−1: none). Each write raises it; a snapshot preserves it. */
  readonly operation: number
  /** Number of searchable documents. */
  readonly documents: number
}

/** Snapshots of a store. Each contains a text that describes its content. */
export type Snapshots = {
  /** Stores a text in the store for all later snapshots; it replaces the previous text. */
  keep(text: string): Promise<void>
  /** The text stored last; undefined: none. */
  kept(): Promise<string | undefined>
  /** The API keys, including those in restored indices, which services ignore until the indices are accepted. */
  keys(): Promise<readonly StoredKey[]>
  /** The write position of each index; all earlier writes are searchable from then on. */
  writePositions(): Promise<readonly WritePosition[]>
  /**
   * Takes a snapshot and waits for its end. If a snapshot with that name and the same stored text is already
   * under way or done, waits for it instead. No process may write meanwhile. Throws 'usage' when a different
   * snapshot has the name.
   */
  take(snapshot: SnapshotName, options: SnapshotOptions): Promise<void>
  /**
   * Restores all indices, unless there are any, and waits for the end. Readers refuse them until a repair accepts them.
   * May be repeated. Returns whether this call restored them: indices that existed before may be of another origin.
   */
  restore(snapshot: SnapshotName, options: SnapshotOptions): Promise<boolean>
}

/** For the commands that create, check, repair and maintain a store. */
export type MaintainPort = {
  /**
   * Creates missing indices or tables. Throws 'conflict' when one exists with a different mapping; the
   * message names the command that helps. Safe to repeat.
   */
  create(): Promise<void>
  /** Lists the differences from what `create` would make; [] when there are none. Changes nothing. */
  check(): Promise<readonly StoreDifference[]>
  /** The differences of `check` except lost data: needs no privilege to read the chain's documents. */
  checkShape(): Promise<readonly StoreDifference[]>
  /** The first step of a repair: rewrites the record of the chain and of its last block if it is lost. */
  restore(): Promise<RestoreOutcome>
  /** All stored documents, unchecked, at one published height. Throws 'unavailable' when nothing is published. */
  audit(): Promise<Audit>
  /**
   * Throws 'unavailable', with the remedy, while loaded data is known to be lost. Absent in stores that
   * cannot lose a part alone.
   */
  readonly whole?: (signal?: AbortSignal) => Promise<void>
  /**
   * Copies the whole store at one height to a new file. The store may be read and written meanwhile. Absent
   * if the server has its own way.
   */
  readonly backup?: (file: string, how?: CopyOptions) => Promise<CopyResult>
  /** Snapshots that the server keeps in its own repositories. Absent if `backup` copies the store. */
  readonly snapshots?: Snapshots
  /** Disks, privileges and settings of the store's server. Absent in a store without a server. */
  readonly serverReport?: () => Promise<ServerReport>
  /** Room on the disks that have the store's data; [] if this user may not know. Throws 'unavailable'. */
  disks(): Promise<readonly DiskRoom[]>
  /** The partitions of history. Absent in stores without partitions. */
  readonly partitions?: {
    /** First height of each partition, by number. */
    firsts(): Promise<readonly number[]>
    /**
     * Merges each finished partition for good and makes it read-only; partitions that already are so are skipped. Safe to
     * repeat, and to run while the store is read and written.
     */
    merge(options: MergeOptions): Promise<void>
  }
}

export type CopyOptions = {
  /** Called with the path of the partial copy before the copy is renamed to its final name. */
  readonly beforeNaming?: (partial: string) => Promise<void>
  /** Bytes written so far, and bytes of the store. */
  readonly onProgress?: (progress: { readonly done: number; readonly of: number }) => void
  readonly signal?: AbortSignal
}

/** A copy: its height, and its size in bytes. */
export type CopyResult = { readonly height: number; readonly bytes: number }

export type MergeOptions = {
  readonly signal: AbortSignal
  readonly onProgress: (progress: MergeProgress) => void
}

export type MergeProgress = {
  readonly name: string
  readonly state: 'merging' | 'merged' | 'skipped'
  /** Its number among `of`, from 1. */
  readonly at: number
  readonly of: number
}

export type StoreDifference = {
  /** Index or table. */
  readonly name: string
  readonly problem: 'missing' | 'different' | 'lost'
  /** The stored definition and the expected one; one line. */
  readonly detail: string
  /** The remedy, where it is not the usual one: a migration. */
  readonly help?: string
}
