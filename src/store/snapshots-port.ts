import type { StoredKey } from './keys-port.ts'

/** A snapshot on a server with its own snapshot repositories. */
export type SnapshotName = { readonly repository: string; readonly name: string }

/** The server's progress, in bytes. */
export type SnapshotProgress = { readonly done: number; readonly of: number }

export type SnapshotOptions = {
  readonly signal: AbortSignal
  readonly onProgress: (progress: SnapshotProgress) => void
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
