import type { BlockDoc } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { Published } from './published.ts'
import type { Settled } from './restored.ts'

/** What a repair writes: documents as they should be, ids that should not be there. History and state alike. */
export type Rewrite = {
  readonly put: readonly { readonly index: AnyIndex; readonly doc: DocOf<AnyIndex> }[]
  readonly remove: readonly { readonly index: AnyIndex; readonly id: string; readonly stray?: string }[]
  /** Places at which a row is found that has none there. */
  readonly unplace: readonly bigint[]
}

/** What a writer can do for a repair. */
export type Mender = {
  /**
   * Puts right what is stored at or below the checkpoint; published height and keys stay as they are. May be repeated:
   * killed at any moment, each document is as before or as after.
   */
  rewrite(rewrite: Rewrite): Promise<void>
  /** A repair did not come to its end, or a loader left what can not be understood: state is of no known height. */
  readonly unfinished: boolean
  /** A stored block, whatever is published; undefined: there is none. */
  blockAt(height: number): Promise<BlockDoc | undefined>
  /**
   * Where the last batch ended by each of the places that say so, all of them independent of each other: what most of
   * them say is so, whichever of them was damaged.
   */
  endings(): Promise<readonly number[]>
  /**
   * Takes batches back until the end is at `height` or below: state as it was then, no history above, height and hash
   * published. The new end; undefined: what is kept does not lead so far, and nothing was done. Killed at any moment, the
   * store is as before, as after, or closed to everybody but a repair, which begins anew.
   */
  takeBack(height: number): Promise<Published | undefined>
  /**
   * Says which chain is stored and where it ends, whatever was said before; history above the end is removed. `open`
   * false: nobody reads or loads until it is called again. The caller answers for the state.
   */
  settle(settled: Settled): Promise<void>
  /** What is stored now counts as all that belongs there. Absent where no part can be lost alone. */
  readonly accept?: () => Promise<void>
}
