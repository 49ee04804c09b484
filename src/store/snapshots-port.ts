/** A snapshot of a server that keeps them in repositories of its own. */
export type Named = { readonly repository: string; readonly name: string }

/** How far the server is; bytes. */
export type SnapshotProgress = { readonly done: number; readonly of: number }

export type SnapshotOptions = {
  readonly signal: AbortSignal
  readonly onProgress: (progress: SnapshotProgress) => void
}

/** Snapshots of a store, with a text in each that says what it has. */
export type Snapshots = {
  /** Keeps a text in the store, for the snapshots that are taken from then on; it replaces the one before. */
  keep(text: string): Promise<void>
  /** The text kept last; undefined: none. */
  kept(): Promise<string | undefined>
  /**
   * Takes a snapshot and waits for its end; one of that name that was taken with the same kept text is waited for instead.
   * Nobody may write meanwhile. Throws 'usage' when the name is taken by another one.
   */
  take(snapshot: Named, options: SnapshotOptions): Promise<void>
  /**
   * Has the server restore all indices, unless there are any, and waits until it has. Readers refuse them until a repair
   * accepts them. May be repeated.
   */
  restore(snapshot: Named, options: SnapshotOptions): Promise<void>
}
