import type { DocOf, Index, Order } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import { LAST_NAME, memberId, type Standing, standingFields } from '#indices/standing.ts'
import { missingData } from '#store/missing-data.ts'
import type { Ranking, Rows } from '#store/ranking-page.ts'
import type { RankRange } from '#store/ranking-start.ts'
import { requireValid } from '../client/request-json.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import { decode, type Source } from '../schema/documents.ts'
import { AT, SORT } from '../schema/mappings.ts'
import { firstOrderOf, fromStateId, isSortedOnDisk, KIND, storedNamesOf } from '../schema/state-ids.ts'
import { NewerData } from './consistent-read.ts'
import { searchOneCopy } from './one-copy.ts'
import type { Reader } from './proved-docs.ts'

type Hit = {
  readonly _id: string
  readonly _version: number
  readonly _source: Source
  readonly sort: Keys
}
/** One search of a ranking, in addition to its query and sort. */
type Step = {
  readonly size: number
  readonly from?: number
  readonly search_after?: Keys | undefined
  readonly _source?: false
  readonly stored_fields?: '_none_'
}
/** The sort values of a hit. */
type Keys = readonly unknown[]
type Search = (step: Step) => Promise<readonly Hit[]>

/** Limit of `from` + `size` (`index.max_result_window`). */
const WINDOW = 10_000

/** Reads documents by their ids. */
type GetMany<I extends StateIndex> = (ids: readonly string[]) => Promise<readonly (DocOf<I> | undefined)[]>

/** Rows of an order, of one published height. */
export const rankedRows = async <I extends StateIndex>(
  { reader, getMany }: { readonly reader: Reader; readonly getMany: GetMany<I> },
  { index, order, group }: Ranking<I>,
  { range, skip, limit }: Rows,
): Promise<readonly DocOf<I>[]> => {
  const search = rankingSearch(reader, reader.names.state(index), queryOf({ index, order, group }, range))
  const after = walksTie(range) ? keysOf(index, group, range.after) : undefined
  if (after !== undefined && skip > 0 && skip + limit <= WINDOW) {
    // The names identify the page's documents, so the tie is walked once.
    const keys = await search({ size: skip + limit, search_after: after, ...KEYS_ONLY })
    const ids = keys.slice(skip).map(({ sort }) => memberId(group, String(sort.at(-1))))
    return (await getMany(ids)).map((doc, at) => doc ?? lost(index, ids[at]))
  }
  const hits =
    after === undefined && skip + limit <= WINDOW
      ? await search({ from: skip, size: limit })
      : await deepHits(search, { after, offset: skip, limit })
  return hits.map(({ _id, _source }) => decode(index, fromStateId(index, _id), _source))
}

const lost = (index: StateIndex, id: string | undefined): never => {
  throw missingData(`A ranking of ${index.name} has '${id}', which is not there.`)
}

/** Options for hits without their documents, which cost ten times as much. */
const KEYS_ONLY = { _source: false, stored_fields: '_none_' } as const

/** Hits after certain sort values, or more hits than the window allows, in steps of at most 10,000. */
const deepHits = async (
  search: Search,
  {
    after: first,
    offset,
    limit,
  }: { readonly after: Keys | undefined; readonly offset: number; readonly limit: number },
): Promise<readonly Hit[]> => {
  let after = first
  for (let skip = offset; skip > 0; ) {
    const size = Math.min(skip, WINDOW)
    const passed = await search({ size, search_after: after, ...KEYS_ONLY })
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

type Asked = { readonly index: Index; readonly order: Order; readonly group: string | undefined }

/** Query and sort of an order, whole or within a range. The sort of a first order is that on disk, so it needs no sorting. */
export const queryOf = ({ index, order: declared, group }: Asked, range?: RankRange) => {
  const order = storedOrder(index, declared)
  const { group: groupField, positive, where, by } = order
  const above = (positive ?? []).map(field => ({ range: { [field]: { gt: '0' } } }))
  const conditions = [
    { term: { [KIND]: index.name } },
    ...(groupField === undefined ? [] : [{ term: { [groupField]: group } }]),
    ...(where === undefined ? [] : [{ term: { [where]: true } }]),
    ...(range !== undefined ? within(order, range) : above.length < 2 ? above : [anyOf(above)]),
  ]
  const isOnDisk = declared === firstOrderOf(index) && isSortedOnDisk(declared)
  return {
    query: { bool: { filter: conditions } },
    sort: (isOnDisk ? SORT : by).map(([field, direction]) => ({ [field]: direction })),
  }
}

/** An order with the names under which its fields are stored. */
const storedOrder = (index: Index, { group, positive, where, by, ...rest }: Order): Order => {
  const common = storedNamesOf(index)
  const stored = (field: string): string => common[field] ?? field
  return {
    ...rest,
    ...(group === undefined ? {} : { group: stored(group) }),
    ...(positive === undefined ? {} : { positive: positive.map(stored) }),
    ...(where === undefined ? {} : { where: stored(where) }),
    by: by.map(([field, direction]) => [stored(field), direction]),
  }
}

const anyOf = (should: readonly object[]) => ({ bool: { should, minimum_should_match: 1 } })

/** Longest tie whose members are skipped one by one, at some 40 ns each; excluding them by name costs as much. */
const WALKED = 32_768

/** Whether a range begins within a tie that is short enough to be skipped from its start. */
const walksTie = (range: RankRange | undefined): range is RankRange & { readonly after: Standing } =>
  range?.after !== undefined && range.after.name !== LAST_NAME && range.tied <= WALKED

const keysOf = ({ name: kind }: Index, group = '', { amount, name }: Standing): Keys => [kind, group, amount, name]

/**
 * Amounts are bounded on both sides, so the search visits only the few documents between, at any depth. If
 * the range begins within a tie, `search_after` skips the names before, comparing every document of the tie.
 * In a long tie a range of names excludes them, at a cost proportional to the number of names.
 */
const within = (order: Order, range: RankRange): readonly object[] => {
  const { after, until } = range
  const fields = standingFields(order)
  const least = until === undefined ? leastOf(order) : { gte: String(until.amount) }
  const between = (bounds: object) => ({ range: { [fields.amount]: bounds } })
  if (after === undefined) return Object.keys(least).length === 0 ? [] : [between(least)]
  const most = String(after.amount)
  if (after.name === LAST_NAME) return [between({ ...least, lt: most })]
  const amounts = between({ ...least, lte: most })
  if (walksTie(range)) return [amounts]
  const isWithinTie = until?.amount === after.amount && until.name !== LAST_NAME
  const names = { gt: after.name, ...(isWithinTie ? { lte: until.name } : {}) }
  const later = { range: { [fields.member]: names } }
  // A range inside one tie has no smaller amounts.
  return [amounts, isWithinTie ? later : anyOf([between({ lt: most }), later])]
}

const leastOf = ({ positive }: Order): object => (positive === undefined ? {} : { gt: '0' })

/**
 * Searches of one ranking. Each request contains a second search, on the same copy, for any document newer
 * than the view. The versions of the hits alone would not be enough, because a document that has left the
 * ranking is in no hit. Throws `NewerData` if there is one.
 */
const rankingSearch = (reader: Reader, index: string, ranking: object): Search => {
  const stamp = stampOf(reader.published)
  const newer = {
    size: 0,
    track_total_hits: 1,
    terminate_after: 1,
    query: { range: { [AT]: { gt: stamp } } },
  }
  return async step => {
    const searches = [{ ...ranking, ...step, version: true }, newer]
    const [found, later] = await searchOneCopy<Hit>(reader, index, searches)
    const hits = requireValid(
      { connection: reader.connection, what: `search ${index}` },
      found?.hits?.hits,
      Array.isArray,
    )
    const isNewer = hits.some(({ _version }) => _version > versionAt(stamp))
    if (isNewer || (later?.hits?.total?.value ?? 1) > 0) throw new NewerData()
    return hits
  }
}
