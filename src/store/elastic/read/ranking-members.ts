import type { Change, StateIndex } from '#indices/registry.ts'
import type { Standing, StandingRange } from '#indices/standing.ts'
import { rankingOf } from '#store/ranking-page.ts'
import { walkRange } from '#store/walk.ts'
import { requireValid } from '../client/request-json.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { decode, type Source } from '../schema/documents.ts'
import { searchOneCopy } from './one-copy.ts'
import type { ProofContext } from './proved-docs.ts'
import { queryOf } from './ranking.ts'

type Hit = { readonly _id: string; readonly _source: Source }

/** Documents of a counted order in a range, in the version that a search sees now. */
export const membersOf = (
  cluster: ReadCluster & ProofContext,
  range: StandingRange,
): Promise<readonly Change['doc'][]> => {
  const { connection, names } = cluster
  // Counted orders are orders of state.
  const { index, order, group } = rankingOf({ ...range, index: range.index as StateIndex })
  const name = names.state(index)
  const next = async (after: Standing | undefined, limit: number): Promise<readonly Change['doc'][]> => {
    const within = { after, until: range.until, tied: Number.POSITIVE_INFINITY }
    const [found] = await searchOneCopy<Hit>(cluster, name, [{ size: limit, ...queryOf(order, group, within) }])
    const hits = requireValid({ connection, what: `search ${name}` }, found?.hits?.hits, Array.isArray)
    return hits.map(({ _id, _source }) => decode(index, _id, _source) as Change['doc'])
  }
  return walkRange(range, next)
}
