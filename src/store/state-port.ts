import type { BalanceDoc } from '#indices/balance.ts'
import type { DocOf } from '#indices/define.ts'
import type { StateChange, StateIndex } from '#indices/registry.ts'
import type { StandingRange } from '#indices/standing.ts'
import type { Batch } from './batch.ts'

/** Balances by the time at which their next frozen amount becomes available; both times in nanoseconds since 1970. */
export type DueRange = { readonly after?: bigint; readonly until: bigint; readonly limit: number }

/**
 * The state of the last committed batch, in a file of the loader's own machine, so that every read returns at once. While
 * a batch is being committed, its documents may be seen in their state before or after it.
 */
export type StateReader = {
  get<I extends StateIndex>(index: I, id: string): DocOf<I> | undefined
  /** At most `limit` balances with `next_due` in (`after`, `until`], by next_due, then id. */
  due(range: DueRange): readonly BalanceDoc[]
  /** All documents of a counted order in a range, best first. */
  members(range: StandingRange): readonly StateChange['doc'][]
}

/** The state that a file has: that of a store (`Checkpoint.state`), as its batch with this random name left it. */
export type StateMark = {
  readonly store: string
  readonly stamp: number
  readonly hash: string
  readonly batch: string
}

/** A document of state, without the one that it replaces. */
export type StateDocument = Pick<StateChange, 'index' | 'doc'>

/** A document of state as it was; `doc` undefined: there was none. */
export type FormerDocument = {
  readonly index: StateIndex
  readonly id: string
  readonly doc: DocOf<StateIndex> | undefined
}

/** State before batches that could be taken back; `before`: what `commit` was given for the oldest of them. */
export type FormerState = { readonly before: string; readonly documents: readonly FormerDocument[] }

/**
 * A loader's own file with the state of a store that is elsewhere. A batch is announced in the store, committed in the
 * file, and then sent. A file that is lost, damaged or of another store is filled again from the store.
 */
export type StateFile = StateReader & {
  /** undefined: the file is empty, or was not filled to the end. */
  readonly mark: StateMark | undefined
  clear(): Promise<void>
  /** Writes documents and, if it is given, the mark: all of it or nothing. */
  put(docs: Iterable<StateDocument>, mark?: StateMark): Promise<void>
  /**
   * Writes the documents of a batch, keeps those that it replaces, and marks it as unsent: all of it or nothing. `before`:
   * the record of the end before the batch, for `takeBack`; undefined: there is none.
   */
  commit(
    batch: Pick<Batch, 'first' | 'end' | 'changes'>,
    how: { readonly mark: StateMark; readonly before: string | undefined },
  ): Promise<void>
  /** The documents of the last batch, in its order, while the store may lack some of them; undefined: it has them. */
  unsent(): readonly StateDocument[] | undefined
  /** Records that the store has the last batch. */
  sent(): Promise<void>
  /**
   * The state before the kept batches from the end at `from` down to the first one that ends at `height` or below. Changes
   * nothing. `parseEnd` reads the height of a record given to `commit`. undefined: these batches are not kept.
   */
  takeBack(
    range: { readonly from: number; readonly height: number },
    parseEnd: (before: string) => number | undefined,
  ): FormerState | undefined
  close(): void
  /** Closes the file and removes it. */
  remove(): void
}
