import { compareStandings, countedOrderOf, type Standing, type StandingRange, standingOf } from '#indices/standing.ts'

/** Members per read. */
const STEP = 1_000

/**
 * All documents of a range. `next` returns at most `limit` documents after a standing (undefined: from the
 * top), best first.
 */
export const walkRange = async <D extends object>(
  range: StandingRange,
  next: (after: Standing | undefined, limit: number) => Promise<readonly D[]>,
): Promise<readonly D[]> => {
  const order = countedOrderOf(range.index)
  if (order === undefined) throw new TypeError(`No order of ${range.index.name} is counted.`)
  const { until } = range
  const found: D[] = []
  for (let { after } = range; ; ) {
    const part = await next(after, STEP)
    for (const doc of part) {
      const standing = standingOf(order, doc)
      if (standing === undefined) throw new TypeError(`A document of ${range.index.name} is in no ranking.`)
      if (until !== undefined && compareStandings(standing, until) > 0) return found
      found.push(doc)
      after = standing
    }
    if (part.length < STEP) return found
  }
}
