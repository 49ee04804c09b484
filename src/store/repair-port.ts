import type { BlockDoc } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { Published } from './published.ts'
import type { SettledEnd } from './restored.ts'

/** One write of a repair: the correct documents, and the ids of documents to remove. History and state alike. */
export type Rewrite = {
  readonly put: readonly { readonly index: AnyIndex; readonly doc: DocOf<AnyIndex> }[]
  readonly remove: readonly { readonly index: AnyIndex; readonly id: string; readonly stray?: string }[]
  /** Places in lists that point to a row that does not belong there. */
  readonly unplace: readonly bigint[]
}

/** The part of a writer that only repairs use. */
export type RepairWriter = {
  /**
   * Corrects documents at or below the checkpoint; the published height and keys do not change. May be
   * repeated: if the process is killed, each document is as before or as after.
   */
  rewrite(rewrite: Rewrite): Promise<void>
  /** A repair was not finished, or a loader left unreadable records: the height of the state is unknown. */
  readonly unfinished: boolean
  /** Closes the store, which may be empty, to readers and loaders until `settle` opens it. */
  shut(): Promise<void>
  /** A stored block, published or not; undefined: not stored. */
  blockAt(height: number): Promise<BlockDoc | undefined>
  /**
   * Heights at which the last batch ended, one from each of several independent records. The height that most
   * records agree on is right, whichever record was damaged.
   */
  endings(): Promise<readonly number[]>
  /**
   * Reverts batches until the end is at `height` or below: restores the state of that height, removes history
   * above it, and publishes its height and hash. Returns the new end; undefined: the kept batches do not
   * reach that far, and nothing was changed. If the process is killed, the store is as before, as after, or
   * closed to all but a repair, which starts again.
   */
  takeBack(height: number): Promise<Published | undefined>
  /**
   * Sets the identity and the last block of the store and removes history above it. `open` false: the store
   * stays closed to readers and loaders until the next call. The caller vouches for the state.
   */
  settle(settled: SettledEnd): Promise<void>
  /**
   * Removes a loader's uncommitted writes above the last block, and records the stored documents as complete.
   * Absent in stores that cannot lose a part alone.
   */
  readonly accept?: () => Promise<void>
}
