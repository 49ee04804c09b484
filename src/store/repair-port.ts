import type { BlockDoc } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { Published } from './published.ts'
import type { Settled } from './restored.ts'

/** One write of a repair: documents as they should be, and ids that should not exist. History and state alike. */
export type Rewrite = {
  readonly put: readonly { readonly index: AnyIndex; readonly doc: DocOf<AnyIndex> }[]
  readonly remove: readonly { readonly index: AnyIndex; readonly id: string; readonly stray?: string }[]
  /** Places in lists that point to a row which does not belong there. */
  readonly unplace: readonly bigint[]
}

/** The part of a writer that only repairs use. */
export type RepairWriter = {
  /**
   * Corrects documents at or below the checkpoint; published height and keys stay as they are. May be repeated: killed at
   * any moment, each document is as before or as after.
   */
  rewrite(rewrite: Rewrite): Promise<void>
  /** A repair was not finished, or a loader left records that cannot be read: the height of the state is not known. */
  readonly unfinished: boolean
  /** Closes the store, which may be empty: nobody reads or loads until `settle` opens it. */
  shut(): Promise<void>
  /** A stored block, published or not; undefined: there is none. */
  blockAt(height: number): Promise<BlockDoc | undefined>
  /**
   * Heights at which the last batch ended, one from each of several independent records: the one most of them agree on is
   * right, whichever record was damaged.
   */
  endings(): Promise<readonly number[]>
  /**
   * Takes batches back until the end is at `height` or below: the state as it was then, no history above, height and hash
   * published. Returns the new end; undefined: the stored batches do not reach so far, and nothing was done. Killed at any
   * moment, the store is as before, as after, or closed to all but a repair, which starts again.
   */
  takeBack(height: number): Promise<Published | undefined>
  /**
   * Sets the identity and the last block of the store and removes history above it. `open` false: nobody reads or loads
   * until it is called again. The caller vouches for the state.
   */
  settle(settled: Settled): Promise<void>
  /**
   * Removes what a loader wrote above the last block and did not commit, and records the stored documents as complete.
   * Absent where no part can be lost alone.
   */
  readonly accept?: () => Promise<void>
}
