import type { DocOf } from '#indices/define.ts'
import type { Key, StateIndex } from '#indices/registry.ts'
import type { Standing, StandingRange } from '#indices/standing.ts'

/**
 * State as derivation sees it: every read returns at once. A loader has the state in a file of its own; only publishers of
 * earlier transactions, which are history, are looked up between two attempts. Above the published height (`head`),
 * documents are fetched between two attempts, too. A read of what is not there yet throws `MissingState`.
 */
export type State = {
  get<I extends StateIndex>(index: I, id: string): DocOf<I> | undefined
  /** Returns the replaced document. */
  put<I extends StateIndex>(index: I, doc: DocOf<I>): DocOf<I> | undefined
  /** `put` of a document that cannot exist yet, so it need not be read. */
  add<I extends StateIndex>(index: I, doc: DocOf<I>): void
  /** Current members of a counted order in the range, best first. */
  members(range: StandingRange): readonly Standing[]
  /** Publisher of the executed transaction with this hash in an earlier block; undefined: there is none. */
  publisherOf(hash: string): string | undefined
}

/** A document that is changed in place while a block is derived. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Documents, or publishers of transactions (`hashes`), that must be fetched before the block can be derived. */
export class MissingState extends Error {
  readonly keys: readonly Key[]
  readonly hashes: readonly string[]
  constructor({ keys = [], hashes = [] }: { readonly keys?: readonly Key[]; readonly hashes?: readonly string[] }) {
    const named = [...keys.map(({ index, id }) => `${index.name} ${id}`), ...hashes.map(hash => `publisher of ${hash}`)]
    super(`State not fetched: ${named.join(', ')}.`)
    this.name = 'MissingState'
    this.keys = keys
    this.hashes = hashes
  }
}
