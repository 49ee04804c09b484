import type { ReadPort } from './read-port.ts'

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
