import type { Audit } from './audit-port.ts'
import type { Restored } from './restored.ts'
import type { ServerReport } from './server-report.ts'
import type { Snapshots } from './snapshots-port.ts'

/** Used by commands to create, check, repair and maintain a store. */
export type MaintainPort = {
  /**
   * Creates what is missing. Refuses ('conflict') when an index or table exists with another mapping, and says which
   * command helps. Safe to repeat.
   */
  create(): Promise<void>
  /** Names what differs from what `create` would make; [] when all is as it should be. Changes nothing. */
  check(): Promise<readonly Difference[]>
  /** What `check` names, but for what is lost: it takes no right to read the documents of the chain. */
  checkShape(): Promise<readonly Difference[]>
  /** The first step of a repair: rewrites the record of the chain and of its last block where it is lost. */
  restore(): Promise<Restored>
  /** All stored documents, as they are, at one published height. Throws 'unavailable' when nothing is published. */
  audit(): Promise<Audit>
  /**
   * Throws 'unavailable', with what helps, while something that was loaded is known to be lost. Absent where no part can
   * be lost without the whole.
   */
  readonly whole?: (signal?: AbortSignal) => Promise<void>
  /**
   * Copies all of the store at one height to a file that is not there yet; the store may be written and read meanwhile.
   * Absent where the server has a way of its own.
   */
  readonly backup?: (file: string, how?: Copying) => Promise<Copied>
  /** Snapshots that the server keeps in repositories of its own. Absent where `backup` copies the store. */
  readonly snapshots?: Snapshots
  /** Disks, rights and settings of the server that keeps the store. Absent where there is none. */
  readonly serverReport?: () => Promise<ServerReport>
  /** Absent where history is kept in one piece. */
  readonly partitions?: Partitions
}

export type Copying = {
  /** Called with the path of the copy before it gets its name. */
  readonly beforeNaming?: (partial: string) => Promise<void>
  /** Bytes written so far, and those of the store. */
  readonly onProgress?: (progress: { readonly done: number; readonly of: number }) => void
  readonly signal?: AbortSignal
}

/** A copy: its height, and its size in bytes. */
export type Copied = { readonly height: number; readonly bytes: number }

/** History in partitions. */
export type Partitions = {
  /** First height of each partition, by number. */
  firsts(): Promise<readonly number[]>
  /**
   * Merges each finished partition for good and makes it read-only; those that are so already are skipped. Safe to
   * repeat, and while the store is read and written.
   */
  merge(options: MergeOptions): Promise<void>
}

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
  /** The stored definition and the expected one; one line. */
  readonly detail: string
}
