import type { ReadPort } from './read-port.ts'

/** What stands between a store and this version of the program. */
export type MigrationPlan = {
  /**
   * `none`: nothing. `copy`: documents stay as they are, what holds them changes. `derive`: documents differ, they are
   * derived anew.
   */
  readonly way: 'none' | 'copy' | 'derive'
  /** What differs, one line each. */
  readonly reasons: readonly string[]
  /** What nobody is served from: replaced by an earlier migration, or left by one that was stopped. */
  readonly leftovers: readonly string[]
}

/** What becomes of one index that is copied. */
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
 * Brings a store to this version while it is served. What is built is seen by nobody before it takes the place of what
 * is served, all of it at one moment; killed at any other, what is served stays as it is. Every step may be repeated.
 */
export type Migrating<S> = {
  /** What is served, whichever version made it; where this one can not read it, that is thrown. */
  readonly source: ReadPort
  plan(): Promise<MigrationPlan>
  /** Absent where nothing is ever copied: then no plan says `copy`. */
  readonly copying?: Copying
  /** For `derive`: the store to load into, with what an earlier migration of this version left there; without keys. */
  beside(): Promise<S>
  /**
   * For `derive`: puts what is beside in the place of what is served. While nobody else writes, `catchUp` brings it to
   * the height that is served at least. Throws 'conflict' while a loader is alive, or when blocks are missing.
   */
  swap(catchUp: (height: number) => Promise<void>): Promise<void>
  /** Removes what nobody is served from; what it was. */
  removeLeftovers(): Promise<readonly string[]>
}
