import type { DocOf } from '#indices/define.ts'
import type { Key, StateIndex } from '#indices/registry.ts'
import type { Standing, StandingRange } from '#indices/standing.ts'

/**
 * State as derivation sees it: reads are in memory only. Reading a document that was not fetched throws `MissingState`; the
 * loader fetches the document and derives the block again from its start (`deriveBlock` is pure apart from its state).
 */
export type State = {
  get<I extends StateIndex>(index: I, id: string): DocOf<I> | undefined
  /** Returns the replaced document. */
  put<I extends StateIndex>(index: I, doc: DocOf<I>): DocOf<I> | undefined
  /** `put` of a document that cannot exist yet, so it need not be fetched. */
  add<I extends StateIndex>(index: I, doc: DocOf<I>): void
  /** Current members of a counted order in the range, best first. */
  members(range: StandingRange): readonly Standing[]
  /** Publisher of the executed transaction with this hash in an earlier block; undefined: there is none. */
  publisherOf(hash: string): string | undefined
}

/** Documents, members of rankings or publishers that must be fetched before the block can be derived. */
export class MissingState extends Error {
  readonly keys: readonly Key[]
  readonly ranges: readonly StandingRange[]
  /** Hashes of transactions. */
  readonly hashes: readonly string[]
  constructor(keys: readonly Key[], ranges: readonly StandingRange[] = [], hashes: readonly string[] = []) {
    const named = [
      ...keys.map(({ index, id }) => `${index.name} ${id}`),
      ...ranges.map(({ index, group }) => `members of ${index.name} ${group ?? ''}`),
      ...hashes.map(hash => `publisher of ${hash}`),
    ]
    super(`State not fetched: ${named.join(', ')}.`)
    this.name = 'MissingState'
    this.keys = keys
    this.ranges = ranges
    this.hashes = hashes
  }
}

/** Runs all; throws one `MissingState` with everything they missed, so that a block is derived again only once. */
export const collectMissing = (reads: Iterable<() => unknown>): void => {
  const keys: Key[] = []
  const ranges: StandingRange[] = []
  const hashes: string[] = []
  for (const read of reads)
    try {
      read()
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      keys.push(...error.keys)
      ranges.push(...error.ranges)
      hashes.push(...error.hashes)
    }
  if (keys.length + ranges.length + hashes.length > 0) throw new MissingState(keys, ranges, hashes)
}
