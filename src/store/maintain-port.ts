import type { Audit } from './audit-port.ts'
import type { RestoreOutcome } from './restored.ts'
import type { DiskRoom, ServerReport } from './server-report.ts'
import type { Snapshots } from './snapshots-port.ts'

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
  /** Absent in stores without partitions. */
  readonly partitions?: Partitions
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

/** The partitions of history. */
export type Partitions = {
  /** First height of each partition, by number. */
  firsts(): Promise<readonly number[]>
  /**
   * Merges each finished partition for good and makes it read-only; partitions that already are so are
   * skipped. Safe to repeat, and to run while the store is read and written.
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
