import type { ReadPort } from './read-port.ts'

/** The steps that bring a store to this version of the program. */
export type MigrationPlan = {
  /**
   * `none`: nothing. `copy`: documents stay as they are, what holds them changes. `derive`: documents differ, they are
   * derived anew.
   */
  readonly way: 'none' | 'copy' | 'derive'
  /** The differences, one line each. */
  readonly reasons: readonly string[]
  /** Indices or files that serve no requests: replaced by an earlier migration, or left by one that was stopped. */
  readonly leftovers: readonly string[]
}

/** Progress of copying one index. */
export type CopyProgress = {
  readonly name: string
  /** `kept`: an earlier migration that was stopped has copied and compared it. */
  readonly state: 'copying' | 'comparing' | 'copied' | 'kept'
  /** So far. */
  readonly documents: number
  /** Which one it is of how many, from 1. */
  readonly at: number
  readonly of: number
}

/** The way `copy` of a migration. */
export type Copying = {
  /** Forgets a migration that was stopped right before its end: loaders may go on with what is served. */
  settle(): Promise<void>
  /** Copies, compares every document, replaces. Throws 'conflict' while a loader is alive. */
  run(options: {
    readonly signal: AbortSignal
    readonly onProgress: (progress: CopyProgress) => void
  }): Promise<void>
}

/**
 * Brings a store to this version while it is served. The new data serves no request until it replaces all of the served
 * data at one moment; killed at any other, the served data is unchanged. Every step may be repeated.
 */
export type Migrating<S> = {
  /** The served data, whichever version wrote it. Reads throw where this version cannot read it. */
  readonly source: ReadPort
  plan(): Promise<MigrationPlan>
  /** Absent where nothing is ever copied: then no plan says `copy`. */
  readonly copying?: Copying
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
