import { parseExact, writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { DocOf, Order } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import { LAST_NAME, type Standing, standingFields } from '#indices/standing.ts'
import { askOnce, trying } from './ask.ts'
import { decode, type Source } from './documents.ts'
import { type ElasticError, toFailure } from './failures.ts'
import { AT } from './mappings.ts'
import { versionAt } from './meta.ts'
import { beginning, type ReadSegments } from './rank-begin.ts'
import { Newer } from './session.ts'
import type { Reader } from './view.ts'

export type PageOptions = { readonly group?: string; readonly offset: number; readonly limit: number }

type Hit = {
  readonly _id: string
  readonly _version: number
  readonly _source: Source
  readonly sort: readonly unknown[]
}
type Part = {
  readonly status: number
  readonly error?: ElasticError
  readonly hits?: { readonly total?: { readonly value: number }; readonly hits?: readonly Hit[] }
}
/** What is asked of a ranking, on top of its query and sort. */
type Step = {
  readonly size: number
  readonly from?: number
  readonly search_after?: readonly unknown[] | undefined
  readonly _source?: false
}
type Search = (step: Step) => Promise<readonly Hit[]>

/** Rows passed over without asking where a page begins. */
const NEAR = 512

/** `from` + `size` end here (`index.max_result_window`). */
const WINDOW = 10_000

/** Documents of an order after the first `offset`, at most `limit`. */
export const rankedPage = async <I extends StateIndex>(
  reader: Reader & { readonly segments: ReadSegments },
  index: I,
  orderName: string,
  { group, offset, limit }: PageOptions,
): Promise<readonly DocOf<I>[]> => {
  const order = (index.orders as Readonly<Record<string, Order>>)[orderName]
  if (order === undefined) throw new Failure('defect', `${index.name} has no order '${orderName}'.`)
  if ((order.group === undefined) !== (group === undefined))
    throw new Failure(
      'defect',
      `Order '${orderName}' of ${index.name} ${order.group === undefined ? 'has no group' : 'needs a group'}.`,
    )
  const begin =
    order.counted && offset > NEAR ? await beginning(reader, index, group, offset) : { skip: offset }
  if (begin === undefined) return []
  const { after, skip } = begin
  const search = rankingSearch(reader, reader.names.state(index), { ...queryOf(order, group, after) })
  const hits =
    skip + limit <= WINDOW ? await search({ from: skip, size: limit }) : await deepHits(search, skip, limit)
  return hits.map(({ _id, _source }) => decode(index, _id, _source))
}

/** Hits beyond the window: walked in steps of 10,000. Of a counted order only a page of such a size comes here. */
const deepHits = async (search: Search, offset: number, limit: number): Promise<readonly Hit[]> => {
  let after: readonly unknown[] | undefined
  for (let skip = offset; skip > 0; ) {
    const size = Math.min(skip, WINDOW)
    const passed = await search({ size, search_after: after, _source: false })
    if (passed.length < size) return []
    after = passed.at(-1)?.sort
    skip -= size
  }
  const found: Hit[] = []
  while (found.length < limit) {
    const size = Math.min(limit - found.length, WINDOW)
    const part = await search({ size, search_after: after })
    found.push(...part)
    if (part.length < size) break
    after = part.at(-1)?.sort
  }
  return found
}

/**
 * Query and sort of an order, from the top or from right after a standing. The group is sorted by as well: only then is
 * the sort the beginning of the index's own.
 */
export const queryOf = (order: Order, group: string | undefined, after?: Standing) => {
  const { group: groupField, positive, by } = order
  const above = (positive ?? []).map(field => ({ range: { [field]: { gt: '0' } } }))
  const conditions = [
    ...(groupField === undefined ? [] : [{ term: { [groupField]: group } }]),
    ...(above.length < 2 ? above : [{ bool: { should: above, minimum_should_match: 1 } }]),
    ...(after === undefined ? [] : afterStanding(order, after)),
  ]
  const keys = groupField === undefined ? by : [[groupField, 'asc'] as const, ...by]
  return {
    query: conditions.length === 0 ? { match_all: {} } : { bool: { filter: conditions } },
    sort: keys.map(([field, direction]) => ({ [field]: direction })),
  }
}

/** As filters and not as `search_after`, which compares every document of an amount that thousands share. */
const afterStanding = (order: Order, { amount, name }: Standing): readonly object[] => {
  const fields = standingFields(order)
  const less = { range: { [fields.amount]: { lt: String(amount) } } }
  // A range of names costs as much as there are names: asked for within ties only.
  if (name === LAST_NAME) return [less]
  const later = { range: { [fields.member]: { gt: name } } }
  return [
    { range: { [fields.amount]: { lte: String(amount) } } },
    { bool: { should: [less, later], minimum_should_match: 1 } },
  ]
}

/**
 * Searches of one ranking, all on one copy of it. Each brings along, in the same request and after it, a search for
 * anything newer than the view: a document that has left the ranking shows nowhere in it, so looking at the versions
 * of the hits would not be enough. `Newer` is thrown when there is one.
 */
const rankingSearch = (reader: Reader, alias: string, ranking: object): Search => {
  const { height } = reader.published.end
  const head = { index: alias, allow_partial_search_results: false, preference: crypto.randomUUID() }
  const newer = {
    size: 0,
    track_total_hits: 1,
    terminate_after: 1,
    query: { range: { [AT]: { gt: height } } },
  }
  const searchOnce = async (step: Step): Promise<readonly Hit[]> => {
    const what = `search ${alias}`
    const answer = await askOnce(reader.connection, {
      what,
      method: 'POST',
      path: '/_msearch',
      // One after the other, in this order.
      query: { max_concurrent_searches: '1' },
      lines: [head, { ...ranking, ...step, version: true, track_total_hits: false }, head, newer]
        .map(line => `${writeJson(line)}\n`)
        .join(''),
      signal: reader.signal,
    })
    const { responses } = parseExact(answer.text) as unknown as { responses: readonly Part[] }
    for (const { status, error } of responses)
      if (error !== undefined) throw toFailure(reader.connection, status, error, what)
    const hits = responses[0]?.hits?.hits ?? []
    const isNewer = hits.some(({ _version }) => _version > versionAt(height))
    if (isNewer || (responses[1]?.hits?.total?.value ?? 1) > 0) throw new Newer()
    return hits
  }
  return step => trying(() => searchOnce(step))
}
