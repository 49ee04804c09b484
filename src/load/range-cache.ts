import { withChanges } from '#derive/members.ts'
import { UNKNOWN } from '#derive/working-state.ts'
import type { Index } from '#indices/define.ts'
import type { Change } from '#indices/registry.ts'
import type { Standing, StandingRange } from '#indices/standing.ts'

type Docs = Iterable<Change['doc']>

/** Members of rankings fetched for the block that is being derived, as the batches before the working one leave them. */
export type RangeCache = {
  readonly get: (range: StandingRange) => Docs | typeof UNKNOWN
  fetch(ranges: readonly StandingRange[]): Promise<void>
  clear(): void
}

/** `inFlight`: documents of an index in the batch on its way, which the store may show or not. */
export const rangeCache = (
  members: (range: StandingRange) => Promise<readonly Change['doc'][]>,
  inFlight: (index: Index) => readonly Change['doc'][],
): RangeCache => {
  const fetched = new Map<string, Docs>()
  return {
    get: range => fetched.get(keyOf(range)) ?? UNKNOWN,
    fetch: async ranges => {
      for (const range of ranges) {
        // Taken before the store is asked: the batch may arrive meanwhile, and be forgotten here.
        const flying = inFlight(range.index)
        fetched.set(
          keyOf(range),
          withChanges(range, await members(range), flying)
            .values()
            .toArray(),
        )
      }
    },
    clear: () => fetched.clear(),
  }
}

const keyOf = ({ index, group, after, until }: StandingRange): string =>
  JSON.stringify([index.name, group ?? '', textOf(after), textOf(until)])

const textOf = (standing: Standing | undefined) =>
  standing === undefined ? [] : [String(standing.amount), standing.name]
