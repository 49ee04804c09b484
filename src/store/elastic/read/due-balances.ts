import { type BalanceDoc, balances } from '#indices/balance.ts'
import { requireValid } from '../client/request-json.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { decode, type Source } from '../schema/documents.ts'
import { searchOneCopy } from './one-copy.ts'
import type { ProofContext } from './proved-docs.ts'

type Range = { readonly after?: bigint; readonly until: bigint; readonly limit: number }
type Hit = { readonly _id: string; readonly _source: Source }

/** Maximum hits of a search (`index.max_result_window`). */
const MAX_HITS = 10_000

/**
 * Balances with `next_due` in (`after`, `until`], by next_due, then id. Elasticsearch does not sort by id, and the text
 * order of ids is not the order of their parts. So all balances due at the last moment are fetched and sorted here.
 */
export const dueBalances = async (
  cluster: ReadCluster & ProofContext,
  { after, until, limit }: Range,
): Promise<readonly BalanceDoc[]> => {
  const from = after === undefined ? {} : { gt: String(after) }
  const found = await walk(cluster, { ...from, lte: String(until) }, limit)
  const last = found.at(-1)?.next_due
  if (found.length < limit || last === undefined) return found.toSorted(byDue)
  const before = found.filter(({ next_due }) => next_due !== last)
  const moment = String(last)
  const together = await walk(cluster, { gte: moment, lte: moment }, Number.POSITIVE_INFINITY)
  return [...before, ...together].toSorted(byDue).slice(0, limit)
}

const walk = async (
  cluster: ReadCluster & ProofContext,
  range: object,
  limit: number,
): Promise<readonly BalanceDoc[]> => {
  const found: BalanceDoc[] = []
  while (found.length < limit) {
    const size = Math.min(limit - found.length, MAX_HITS)
    const part = await search(cluster, range, { size, after: found.at(-1) })
    found.push(...part)
    if (part.length < size) break
  }
  return found
}

const search = async (
  cluster: ReadCluster & ProofContext,
  range: object,
  { size, after }: { readonly size: number; readonly after: BalanceDoc | undefined },
): Promise<readonly BalanceDoc[]> => {
  const { connection, names } = cluster
  const index = names.state(balances)
  const [found] = await searchOneCopy<Hit>(cluster, index, [
    {
      size,
      query: { bool: { filter: [{ range: { next_due: range } }] } },
      sort: [{ next_due: 'asc' }, { token: 'asc' }, { owner: 'asc' }],
      ...(after === undefined ? {} : { search_after: [String(after.next_due), after.token, after.owner] }),
    },
  ])
  const hits = requireValid({ connection, what: `search ${index}` }, found?.hits?.hits, Array.isArray)
  return hits.map(({ _id, _source }) => decode(balances, _id, _source))
}

const byDue = (a: BalanceDoc, b: BalanceDoc): number => {
  const [dueA, dueB] = [a.next_due ?? 0n, b.next_due ?? 0n]
  if (dueA !== dueB) return dueA < dueB ? -1 : 1
  return a.id < b.id ? -1 : 1
}
