import type { DocOf } from '#indices/define.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { Published } from './published.ts'

/** A stored document as it was met. */
export type Found<I extends AnyIndex = AnyIndex> = {
  readonly id: string
  /** undefined: the stored document cannot be read. */
  readonly doc: DocOf<I> | undefined
  /** Where it is, if no reader would look for it there (a second document with its id). */
  readonly stray?: string
}

export type Placed = { readonly place: bigint; readonly id: string }

/** The stored documents at one height, for auditors, who trust nothing. The size of each answer is bounded. */
export type Audit = {
  readonly at: Published
  /** Every document of an index once, page by page, in an order of the store's own; history up to `at` only. */
  scan<I extends AnyIndex>(index: I): AsyncIterable<readonly Found<I>[]>
  /** Documents by their ids, in that order; undefined also for a stored document that cannot be read. */
  getMany<I extends AnyIndex>(index: I, ids: readonly string[]): Promise<readonly (DocOf<I> | undefined)[]>
  /** Which of the ids are stored. */
  existing(index: AnyIndex, ids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Rows with places after `after` up to `until`, ascending, all when there are at most `limit` (≤ 5,000), else some
   * of them, more than `limit`.
   */
  placed(range: {
    readonly after: bigint
    readonly until: bigint
    readonly limit: number
  }): Promise<readonly Placed[]>
  close(): Promise<void>
}
