import type { Change, StateIndex } from '#indices/registry.ts'
import type { Standing, StandingRange } from '#indices/standing.ts'
import { rankingOf } from '#store/ranking-page.ts'
import { walkRange } from '#store/walk.ts'
import { askHits } from '../client/ask.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { decode, type Source } from '../schema/documents.ts'
import { queryOf } from './ranking.ts'

type Hit = { readonly _id: string; readonly _source: Source }

/** Documents of a counted order in a range, as search sees them now. */
export const membersOf = (cluster: ReadCluster, range: StandingRange): Promise<readonly Change['doc'][]> => {
  const { connection, names } = cluster
  // Counted orders are orders of state.
  const { index, order, group } = rankingOf({ ...range, index: range.index as StateIndex })
  const alias = names.state(index)
  const next = async (after: Standing | undefined, limit: number): Promise<readonly Change['doc'][]> => {
    const within = { after, until: range.until, tied: Number.POSITIVE_INFINITY }
    const hits = await askHits<Hit>(connection, {
      what: `search ${alias}`,
      method: 'POST',
      path: `/${alias}/_search`,
      query: { allow_partial_search_results: 'false' },
      body: JSON.stringify({ size: limit, track_total_hits: false, ...queryOf(order, group, within) }),
    })
    return hits.map(({ _id, _source }) => decode(index, _id, _source) as Change['doc'])
  }
  return walkRange(range, next)
}
