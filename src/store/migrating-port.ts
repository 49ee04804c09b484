import type { ReadPort } from './read-port.ts'

/** The steps that bring a store to this version of the program. */
export type MigrationPlan = {
  /** `derive`: all documents are derived anew. */
  readonly way: 'none' | 'derive'
  /** The differences, one line each. */
  readonly reasons: readonly string[]
  /** Indices or files that serve no requests: replaced by an earlier migration, or left by one that was stopped. */
  readonly leftovers: readonly string[]
}

/**
 * Brings a store to this version while it is served. The new data serves no request until it replaces all of the served
 * data at one moment; killed at any other, the served data is unchanged. Every step may be repeated.
 */
export type Migrating<S> = {
  /** The served data, whichever version wrote it. Reads throw where this version cannot read it. */
  readonly source: ReadPort
  plan(): Promise<MigrationPlan>
  /**
   * Lets loaders go on with what is served after a migration that was stopped right before its end, where there is
   * nothing to migrate any more. Absent where nothing is ever closed.
   */
  readonly reopen?: () => Promise<void>
  /** For `derive`: the store to load into, with what an earlier migration of this version left there; without keys. */
  beside(): Promise<S>
  /**
   * For `derive`: replaces the served data by the store beside it. While nobody else writes, `catchUp` loads that store up
   * to the served height. Throws 'conflict' while a loader is alive, or when blocks are missing.
   */
  swap(catchUp: (height: number) => Promise<void>): Promise<void>
  /** Removes the leftovers and returns their names. */
  removeLeftovers(): Promise<readonly string[]>
}
