import type { BalanceDoc } from '#indices/balance.ts'
import type { DocOf } from '#indices/define.ts'
import type { Change, StateIndex } from '#indices/registry.ts'
import type { StandingRange } from '#indices/standing.ts'

/** Balances by the time at which their next frozen amount becomes available; both times in nanoseconds since 1970. */
export type DueRange = { readonly after?: bigint; readonly until: bigint; readonly limit: number }

/**
 * The state of the last committed batch, in a file of the loader's own machine, so that every read returns at once. While
 * a batch is being committed, its documents may be seen in their state before or after it.
 */
export type StateReader = {
  /** undefined: there is no such document. */
  get<I extends StateIndex>(index: I, id: string): DocOf<I> | undefined
  /** At most `limit` balances with `next_due` in (`after`, `until`], by next_due, then id. */
  due(range: DueRange): readonly BalanceDoc[]
  /** All documents of a counted order in a range, best first. */
  members(range: StandingRange): readonly Change['doc'][]
}

/** The state that a file has: that of a store (`Checkpoint.state`), up to a stamp. */
export type StateMark = { readonly store: string; readonly stamp: number }

/**
 * A loader's own file with the state of a store that is elsewhere. It is a copy: a file that is lost, damaged or of another
 * store is filled again.
 */
export type StateFile = StateReader & {
  /** undefined: the file is empty, or was not filled to the end. */
  readonly mark: StateMark | undefined
  clear(): Promise<void>
  /** Writes documents and, if it is given, the mark: all of it or nothing. */
  put(docs: Iterable<Pick<Change, 'index' | 'doc'>>, mark?: StateMark): Promise<void>
  close(): void
}

/** Throws 'conflict' while another process has the file. */
export type OpenStateFile = () => StateFile
