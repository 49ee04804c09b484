import type { StoredKey } from './keys-port.ts'

/** A snapshot of a server that keeps them in repositories of its own. */
export type Named = { readonly repository: string; readonly name: string }

/** How far the server is; bytes. */
export type SnapshotProgress = { readonly done: number; readonly of: number }

export type SnapshotOptions = {
  readonly signal: AbortSignal
  readonly onProgress: (progress: SnapshotProgress) => void
}

/** How far an index of documents, or one partition of its history, was written. */
export type Written = {
  readonly index: string
  /** Of history. */
  readonly partition?: number
  /** Number of its last operation (−1: none). Each write raises it; a snapshot keeps it. */
  readonly operation: number
  /** How many documents can be searched. */
  readonly documents: number
}

/** Snapshots of a store, with a text in each that says what it has. */
export type Snapshots = {
  /** Keeps a text in the store, for the snapshots that are taken from then on; it replaces the one before. */
  keep(text: string): Promise<void>
  /** The text kept last; undefined: none. */
  kept(): Promise<string | undefined>
  /** The API keys, also of indices that were restored and not accepted yet: until then no service believes them. */
  keys(): Promise<readonly StoredKey[]>
  /** How far each index was written; whatever was can be searched from then on. */
  written(): Promise<readonly Written[]>
  /**
   * Takes a snapshot and waits for its end; one of that name that was taken with the same kept text is waited for instead.
   * Nobody may write meanwhile. Throws 'usage' when the name is taken by another one.
   */
  take(snapshot: Named, options: SnapshotOptions): Promise<void>
  /**
   * Has the server restore all indices, unless there are any, and waits until it has. Readers refuse them until a repair
   * accepts them. May be repeated. Whether this call had them restored: what was there before may be of another origin.
   */
  restore(snapshot: Named, options: SnapshotOptions): Promise<boolean>
}
