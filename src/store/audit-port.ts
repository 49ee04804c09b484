import type { DocOf } from '#indices/define.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { Published } from './published.ts'

/** A stored document as the auditor found it. */
export type StoredDocument<I extends AnyIndex = AnyIndex> = {
  readonly id: string
  /** undefined: the stored document cannot be read. */
  readonly doc: DocOf<I> | undefined
  /** Location of a stray document, one that no reader would look for there (a second document with its id). */
  readonly stray?: string
}

export type PlacedRow = { readonly place: bigint; readonly id: string }

/** The stored documents at one height, for auditors, which trust no record. Each answer has a bounded size. */
export type Audit = {
  readonly at: Published
  /** Every document of an index exactly once, page by page, in the store's own order; history only up to `at`. */
  scan<I extends AnyIndex>(index: I): AsyncIterable<readonly StoredDocument<I>[]>
  /** Documents by id, in the order of the ids; undefined also for a stored document that cannot be read. */
  getMany<I extends AnyIndex>(index: I, ids: readonly string[]): Promise<readonly (DocOf<I> | undefined)[]>
  /** The subset of the ids that are stored. */
  existing(index: AnyIndex, ids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Rows with places in (`after`, `until`], ascending. If there are more than `limit` (≤ 5,000), some of them
   * are returned, still more than `limit`; otherwise all.
   */
  placed(range: {
    readonly after: bigint
    readonly until: bigint
    readonly limit: number
  }): Promise<readonly PlacedRow[]>
  close(): Promise<void>
}
