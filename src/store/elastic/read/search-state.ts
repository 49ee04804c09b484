import type { estypes } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import type { DocOf, Index, Order } from '#indices/define.ts'
import type { NamedIndex, StateIndex } from '#indices/registry.ts'
import { segments } from '#indices/segment.ts'
import { LAST_NAME, memberId, type Standing, standingFields } from '#indices/standing.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import {
  type Hints,
  type Ranking,
  type RankingReads,
  type RankingRows,
  type RankRange,
  rankingPage,
} from '#store/ranking.ts'
import { requestJson, requireValid } from '../client/request.ts'
import { toStamp, toVersion } from '../schema/checkpoint.ts'
import { type DocSource, decodeDoc, MAX_ID_BYTES } from '../schema/documents.ts'
import { AT, SORT } from '../schema/mappings.ts'
import { getFirstOrder, getStoredNames, isSortedOnDisk, KIND, NAMED, parseStateId, toStateId } from '../schema/names.ts'
import { NewerData, OutOfDateCopy, searchOneCopy, type ViewReader } from './proved-reads.ts'

type RankedHit = {
  readonly _id: string
  readonly _version?: number
  readonly _source: DocSource
  readonly sort: readonly unknown[]
}

/** The hits of a search of the index of a ranking, whose sort values are exact. */
type RankingSearch = (body: object) => Promise<readonly RankedHit[]>

/** What a page of a ranking is read with, all at one height. */
type RankingReader = {
  readonly search: RankingSearch
  readonly getMany: View['getMany']
  readonly hints: Hints
}

/** Limit of `from` + `size` (`index.max_result_window`). */
const WINDOW = 10_000

export function readPage<I extends StateIndex>(
  { search, getMany, hints }: RankingReader,
  ranking: { readonly index: I; readonly order: string },
  options: Parameters<typeof rankingPage>[2],
): Promise<readonly DocOf<I>[]> {
  const reads: RankingReads<I> = {
    segments: ids => getMany(segments, ids),
    rows: (...asked) => readRankedRows({ search, getMany }, ...asked),
    hints,
  }
  return rankingPage(reads, ranking, options)
}

async function readRankedRows<I extends StateIndex>(
  { search: searchIndex, getMany }: Pick<RankingReader, 'search' | 'getMany'>,
  { index, order, group }: Ranking<I>,
  { range, skip, limit }: RankingRows,
): Promise<readonly DocOf<I>[]> {
  const ranking = toQuery({ index, order, group }, range)
  const search: RankingSearch = step => searchIndex({ ...ranking, ...step })
  const after = walksTie(range) ? [index.name, group ?? '', range.after.amount, range.after.name] : undefined
  if (after !== undefined && skip > 0 && skip + limit <= WINDOW) {
    // The names identify the page's documents, so the tie is walked once.
    const keys = await search({ size: skip + limit, search_after: after, ...KEYS_ONLY })
    const ids = keys.slice(skip).map(({ sort }) => memberId(group, String(sort.at(-1))))
    return (await getMany(index, ids)).map((doc, at) => {
      if (doc === undefined) throw missingData(`A ranking of ${index.name} has '${ids[at]}', which is not there.`)
      return doc
    })
  }
  const hits =
    after === undefined && skip + limit <= WINDOW
      ? await search({ from: skip, size: limit })
      : await searchDeep(search, after, { offset: skip, limit })
  return hits.map(({ _id, _source }) => decodeDoc(index, parseStateId(index, _id), _source))
}

/** Options for hits without their documents, which cost ten times as much. */
const KEYS_ONLY = { _source: false, stored_fields: '_none_' } as const

/** Hits after certain sort values, or more hits than the window allows, in steps of at most 10,000. */
async function searchDeep(
  search: RankingSearch,
  first: readonly unknown[] | undefined,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly RankedHit[]> {
  let after = first
  for (let skip = offset; skip > 0; ) {
    const size = Math.min(skip, WINDOW)
    const passed = await search({ size, search_after: after, ...KEYS_ONLY })
    if (passed.length < size) return []
    after = passed.at(-1)?.sort
    skip -= size
  }
  const found: RankedHit[] = []
  while (found.length < limit) {
    const size = Math.min(limit - found.length, WINDOW)
    const part = await search({ size, search_after: after })
    found.push(...part)
    if (part.length < size) break
    after = part.at(-1)?.sort
  }
  return found
}

/** Query and sort of an order, whole or within a range. The sort of a first order is that on disk, so it needs no sorting. */
export function toQuery({ index, order: declared, group }: Omit<Ranking<StateIndex>, 'name'>, range?: RankRange) {
  const order = toStoredOrder(index, declared)
  const { group: groupField, positive, where, by } = order
  const above = (positive ?? []).map(field => ({ range: { [field]: { gt: '0' } } }))
  const conditions = [
    { term: { [KIND]: index.name } },
    ...(groupField === undefined ? [] : [{ term: { [groupField]: group } }]),
    ...(where === undefined ? [] : [{ term: { [where]: true } }]),
    ...(range !== undefined ? toRange(order, range) : above.length < 2 ? above : [matchAny(above)]),
  ]
  const isOnDisk = declared === getFirstOrder(index) && isSortedOnDisk(declared)
  return {
    query: { bool: { filter: conditions } },
    sort: (isOnDisk ? SORT : by).map(([field, direction]) => ({ [field]: direction })),
  }
}

/** An order with the names under which its fields are stored. */
function toStoredOrder(index: Index, { group, positive, where, by, ...rest }: Order): Order {
  const common = getStoredNames(index)
  const stored = (field: string): string => common[field] ?? field
  return {
    ...rest,
    ...(group === undefined ? {} : { group: stored(group) }),
    ...(positive === undefined ? {} : { positive: positive.map(stored) }),
    ...(where === undefined ? {} : { where: stored(where) }),
    by: by.map(([field, direction]) => [stored(field), direction]),
  }
}

function matchAny(should: readonly object[]) {
  return { bool: { should, minimum_should_match: 1 } }
}

/**
 * Whether a range begins within a tie that is short enough to be skipped from its start. The members of a longer one are
 * not skipped one by one, at some 40 ns each: excluding them by name costs as much.
 */
function walksTie(range: RankRange | undefined): range is RankRange & { readonly after: Standing } {
  return range?.after !== undefined && range.after.name !== LAST_NAME && range.tied <= 32_768
}

/**
 * Amounts are bounded on both sides, so the search visits only the few documents between, at any depth. If
 * the range begins within a tie, `search_after` skips the names before, comparing every document of the tie.
 * In a long tie a range of names excludes them, at a cost proportional to the number of names.
 */
function toRange(order: Order, range: RankRange): readonly object[] {
  const { after, until } = range
  const fields = standingFields(order)
  const positive = order.positive === undefined ? {} : { gt: '0' }
  const least = until === undefined ? positive : { gte: String(until.amount) }
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
  return [amounts, isWithinTie ? later : matchAny([between({ lt: most }), later])]
}

/**
 * Searches of rankings at the height of a view. Each request contains a second search, on the same copy, for any document
 * newer than the view. The versions of the hits alone would not be enough, because a document that has left the ranking is
 * in no hit. Throws `NewerData` if there is one.
 */
export function createSearch(reader: ViewReader, index: string): RankingSearch {
  const stamp = toStamp(reader.published)
  return async body => {
    const [found, later] = await searchOneCopy<RankedHit>(reader, index, [{ ...body, version: true }, findNewer(stamp)])
    const origin = { connection: reader.connection, what: `search ${index}` }
    const hits = requireValid(origin, found?.hits?.hits, Array.isArray)
    const isNewer = hits.some(({ _version = 0 }) => _version > toVersion(stamp))
    if (isNewer || (later?.hits?.total?.value ?? 1) > 0) throw new NewerData()
    return hits
  }
}

/** A search whose total says whether any document is newer than a stamp. */
function findNewer(stamp: number) {
  return { size: 0, track_total_hits: 1, terminate_after: 1, query: { range: { [AT]: { gt: stamp } } } }
}

/**
 * Documents whose names begin with a text, by name. The names come from the sorted list of terms itself, because a
 * search would visit all matches. Terms of removed or changed documents stay in the list for a while, so the documents
 * decide. Throws `NewerData` when data newer than the view could be seen, because a name may have disappeared with it.
 * Throws `OutOfDateCopy` when the list lacks a name, because it may be from any copy.
 */
export async function findNamedDocs<I extends NamedIndex>(
  { reader, getMany }: { readonly reader: ViewReader; readonly getMany: View['getMany'] },
  index: I,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly DocOf<I>[]> {
  // Names are ids; Elasticsearch may refuse a query for a longer text.
  if (Buffer.byteLength(toStateId(index, text)) > MAX_ID_BYTES) return []
  const found: DocOf<I>[] = []
  for (let after: string | undefined; ; ) {
    // Further requests are needed when documents of some of the first names no longer exist.
    const size = after === undefined ? limit : Math.max(limit, 1_000)
    const names = await listTerms(reader, index, { text, size, after })
    for (const doc of await getMany(index, names))
      if (doc !== undefined && Reflect.get(doc, index.named) === doc.id) found.push(doc)
    after = names.at(-1)
    if (names.length < size || found.length >= limit) break
  }
  const until = found.length < limit ? undefined : found.at(-1)?.id
  await requireAllNames(reader, index, { text, until, found })
  return found.slice(0, limit)
}

async function listTerms(
  reader: ViewReader,
  index: NamedIndex,
  { text, size, after }: { readonly text: string; readonly size: number; readonly after: string | undefined },
): Promise<readonly string[]> {
  const { connection, signal } = reader
  const alias = reader.names.state(index)
  const what = `list names of ${alias}`
  const answer = await requestJson<Partial<estypes.TermsEnumResponse>>(connection, {
    what,
    path: `/${alias}/_terms_enum`,
    body: JSON.stringify({
      field: NAMED,
      string: toStateId(index, text),
      size,
      // A list of terms takes the server some milliseconds.
      timeout: '10s',
      search_after: after === undefined ? undefined : toStateId(index, after),
    }),
    signal,
  })
  if (answer.complete !== true || answer._shards?.failed !== 0)
    throw new Failure('unavailable', `Elasticsearch at ${connection.url} listed only part of the names of ${alias}.`, {
      help: 'Check the health of the cluster, then retry.',
      retryable: true,
    })
  return requireValid({ connection, what }, answer.terms, Array.isArray).map(name => parseStateId(index, name))
}

/** Throws unless `found` has all names from `text` to the last name with that prefix, or to `until`, inclusive. */
async function requireAllNames(
  reader: ViewReader,
  index: NamedIndex,
  { text, until, found }: { text: string; until: string | undefined; found: readonly { readonly id: string }[] },
): Promise<void> {
  const name = reader.names.state(index)
  const from = toStateId(index, text)
  const within =
    until === undefined
      ? { prefix: { [NAMED]: from } }
      : { range: { [NAMED]: { gte: from, lte: toStateId(index, until) } } }
  const [named, newer] = await searchOneCopy<{ readonly _id: string }>(reader, name, [
    { size: found.length + 1, _source: false, query: { bool: { filter: [within] } } },
    findNewer(toStamp(reader.published)),
  ])
  const origin = { connection: reader.connection, what: `search ${name}` }
  if (requireValid(origin, newer?.hits?.total?.value) > 0) throw new NewerData()
  const known = new Set(found.map(({ id }) => toStateId(index, id)))
  for (const { _id } of requireValid(origin, named?.hits?.hits, Array.isArray))
    if (!known.has(_id)) throw new OutOfDateCopy(reader.connection, name)
}
