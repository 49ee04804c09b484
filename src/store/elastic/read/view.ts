import { hash8 } from '#chain/hash.ts'
import { blocks } from '#indices/block.ts'
import type { DocOf } from '#indices/define.ts'
import { blockId, type ListDoc, toPlace } from '#indices/list.ts'
import { type ListedRecord, listedRecords, type RecordDoc, records } from '#indices/record.ts'
import type { AnyIndex, HistoryIndex } from '#indices/registry.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { countDocCharacters } from '#store/bounded-cache.ts'
import { missingData } from '#store/failures.ts'
import type { IsEnough, Moment, View } from '#store/port.ts'
import { parseHits, type Ref, requestParsed, WHOLE } from '../client/request.ts'
import { type Checkpoint, toStamp, toVersion } from '../schema/checkpoint.ts'
import { decodeDoc, formatHashTerm, parseHitDocs } from '../schema/documents.ts'
import { findPartition, INDICES_AT_ONCE, type ReadCluster, toStateId } from '../schema/names.ts'
import {
  getBatchedDocs,
  type HistoryHit,
  NewerData,
  type ProofContext,
  searchHistory,
  searchProvedHistory,
  type ViewReader,
} from './proved-reads.ts'
import { createSearch, findNamedDocs, readPage } from './search-state.ts'

/** A view of the published height. A read throws `NewerData` if it could see newer data, unless the state is held. */
export function openView(reader: ViewReader, own: Pick<View, 'hold' | 'release' | 'edition'>): View {
  const getMany: View['getMany'] = (index, ids) => getDocs(reader, index, ids)
  return {
    ...own,
    at: reader.published.end,
    get: async (index, id) => (await getDocs(reader, index, [id]))[0],
    getMany,
    find: (index, field, ...[value, isEnough]) => findDocs(reader, index, { field, values: [value], isEnough }),
    findAny: (index, field, ...[values, isEnough]) => findDocs(reader, index, { field, values, isEnough }),
    startingWith: (index, text, limit) => findNamedDocs({ reader, getMany }, index, { text, limit }),
    page: async (index, order, options) => {
      const search = createSearch(reader, reader.names.state(index))
      const rows = await readPage({ search, getMany, hints: reader.hints }, { index, order }, options)
      if (rows.length === 0) reader.onNothing()
      return rows
    },
    records: (list, first, last) => readRows(reader, list, [first, last]),
    newRecords: (lists, height) => readNewRecords(reader, lists, height),
    moments: (list, ordinals) => readMoments(reader, list, ordinals),
    blockTimes: async heights => {
      const docs = heights.length === 0 ? [] : await getDocs(reader, blocks, heights.map(blockId))
      return docs.map((doc, at) => {
        if (doc === undefined) throw missingData(`Block ${heights[at]} is not stored.`)
        return doc.time
      })
    },
  }
}

/** The height in an id of history; undefined for any other id. */
export function parseHeight(id: string): number | undefined {
  const digits = /^\d{12}(?=-|$)/.exec(id)?.[0]
  return digits === undefined ? undefined : Number(digits)
}

async function getDocs<I extends AnyIndex>(
  reader: ViewReader,
  index: I,
  ids: readonly string[],
): Promise<readonly (DocOf<I> | undefined)[]> {
  const known = ids.map(id => (index.kind === 'state' ? getCached(reader, `${index.name}/${id}`) : undefined))
  const refs = ids.map((id, at) => (known[at] === undefined ? toRef(reader, index, id) : undefined))
  const present = refs.filter(ref => ref !== undefined)
  const found = present.length === 0 ? [] : await getBatchedDocs(reader, present)
  let next = 0
  return refs.map((ref, at) => {
    // Cache entries are stored by name of index, so the document is of that index.
    if (ref === undefined) return known[at]?.value as DocOf<I> | undefined
    const id = ids[at] as string
    const got = found[next++]
    if (index.kind === 'history') {
      if (got === undefined) reader.onNothing()
      return got && decodeDoc(index, id, got.source)
    }
    if (got !== undefined && got.version > toVersion(toStamp(reader.published))) throw new NewerData()
    const doc = got && decodeDoc(index, id, got.source)
    reader.cache?.put(`${index.name}/${id}`, doc, countDocCharacters(got?.source))
    return doc
  })
}

function getCached({ cache, onCacheRead }: ViewReader, key: string) {
  const known = cache?.get(key)
  if (cache !== undefined) onCacheRead?.(known !== undefined)
  return known
}

/** undefined: no published document can have that id. */
function toRef(reader: ViewReader, index: AnyIndex, id: string): Ref | undefined {
  if (index.kind === 'state') return { index: reader.names.state(index), id: toStateId(index, id) }
  const height = parseHeight(id)
  if (height === undefined || height > reader.published.end.height) return undefined
  return { index: reader.names.partition(index, findPartition(reader.published.partitions, height)), id }
}

/** More documents than ever share the first 8 bytes of a hash. */
const MAX_FOUND = 16

async function findDocs<I extends HistoryIndex>(
  reader: ViewReader,
  index: I,
  { field, values, isEnough }: { field: string; values: readonly bigint[]; isEnough: IsEnough<I> | undefined },
): Promise<readonly DocOf<I>[]> {
  if (values.length === 0) return []
  // By name of index, because an alias may point to another generation by now.
  const indices = reader.published.partitions.map((_, partition) => reader.names.partition(index, partition))
  const terms = values.map(formatHashTerm)
  const query = terms.length === 1 ? { term: { [field]: terms[0] } } : { terms: { [field]: terms } }
  const decodeHits = (hits: readonly HistoryHit[]) => {
    const published = hits.filter(({ _id }) => (parseHeight(_id) ?? Infinity) <= reader.published.end.height)
    const docs = sortById(published.map(({ _id, _source }) => decodeDoc(index, _id, _source)))
    // Documents with the same value do not stand for another value.
    const distinct = new Set(docs.map(doc => Reflect.get(doc, field))).size
    return { docs, isAll: distinct >= terms.length && isEnough?.(docs) !== false }
  }
  const search = { query, size: MAX_FOUND * terms.length }
  let found = decodeHits(await searchHistory(reader, indices, search))
  if (!found.isAll) found = decodeHits(await searchProvedHistory(reader, indices, search))
  if (!found.isAll) reader.onNothing()
  return found.docs
}

/** Rows at the view's height with one of the places, each row once, in the partitions of blocks above `height`. */
async function findPlaced(reader: ViewReader, places: readonly bigint[], height: number) {
  const { partitions, end } = reader.published
  const first = findPartition(partitions, height + 1)
  const indices = partitions
    .map((_, partition) => reader.names.partition(records, partition))
    .filter((_, partition) => partition >= first)
  const query = { terms: { places: places.map(String) } }
  // A place without a row does not mean that the copy lacks one.
  const found = await searchProvedHistory(reader, indices, { query, size: places.length })
  return found.map(({ _id, _source }) => decodeDoc(records, _id, _source)).filter(row => row.height <= end.height)
}

async function readMoments(reader: ViewReader, list: ListDoc, ordinals: readonly number[]): Promise<readonly Moment[]> {
  const partitions = new Set(ordinals.flatMap(ordinal => listRowPartitions(list.starts, ordinal, ordinal)))
  const indices = [...partitions].map(partition => reader.names.partition(records, partition))
  const places = ordinals.map(ordinal => String(toPlace(list.number, ordinal)))
  const search = { query: { terms: { places } }, size: ordinals.length, _source: ['height', 'time'] as const }
  let hits = await searchHistory(reader, indices, search)
  if (hits.length !== ordinals.length) hits = await searchProvedHistory(reader, indices, search)
  if (hits.length !== ordinals.length)
    throw missingData(
      `List '${list.id}' has ${hits.length} of its rows ${ordinals.join(', ')} in ${indices.join(', ')}.`,
    )
  return hits
    .map(({ _source: { height, time } }) => ({ height: height as number, time: BigInt(time as string) }))
    .toSorted((a, b) => a.height - b.height)
}

/** Rows per request; a page has at most some hundred, only exports have more. */
const ROWS_AT_ONCE = 5000

async function readRows(
  reader: ViewReader,
  list: ListDoc,
  [first, last]: readonly [number, number],
): Promise<readonly ListedRecord[]> {
  const to = Math.min(last, list.count)
  const rows: ListedRecord[] = []
  for (let from = Math.max(first, 1); from <= to; from += ROWS_AT_ONCE)
    rows.push(...(await readRun(reader, list, [from, Math.min(to, from + ROWS_AT_ONCE - 1)])))
  return rows
}

async function readRun(
  reader: ViewReader,
  list: ListDoc,
  [from, to]: readonly [number, number],
): Promise<readonly ListedRecord[]> {
  const indices = listRowPartitions(list.starts, from, to).map(partition => reader.names.partition(records, partition))
  const size = to - from + 1
  const places = [toPlace(list.number, from), toPlace(list.number, to)].map(String)
  let rows = indices.length > INDICES_AT_ONCE ? [] : await readPlaces(reader, indices, { places, size })
  if (rows.length !== size) {
    // Reads in several requests, or finds out whether a copy is out of date.
    const query = { range: { places: { gte: places[0], lte: places[1] } } }
    rows = (await searchProvedHistory(reader, indices, { query, size })).map(toRow)
  }
  if (rows.length !== size)
    throw missingData(
      `List '${list.id}' has ${rows.length} rows with ordinals ${from} to ${to} in ${indices.join(', ')}.`,
    )
  return sortById(rows)
}

/** The request is concatenated from its numbers: serializing it as JSON takes as long as reading a row. */
function readPlaces(
  { connection, signal }: ViewReader,
  indices: readonly string[],
  { places: [first, last], size }: { readonly places: readonly string[]; readonly size: number },
): Promise<readonly ListedRecord[]> {
  const what = `search ${indices}`
  const body = `{"track_total_hits":false,"query":{"range":{"places":{"gte":"${first}","lte":"${last}"}}},"size":${size}}`
  const question = { what, path: `/${indices}/_search`, query: WHOLE, body, signal }
  return requestParsed(
    connection,
    question,
    ({ text }, origin) => parseHitDocs(listedRecords, text) ?? parseHits<HistoryHit>(origin, text).map(toRow),
  )
}

function toRow({ _id, _source }: HistoryHit): ListedRecord {
  return decodeDoc(listedRecords, _id, _source)
}

/** The partitions of a list with rows `first` … `last`; `starts` is ascending, as in the list's document. */
function listRowPartitions(
  starts: readonly (readonly [partition: number, ordinal: number])[],
  first: number,
  last: number,
): readonly number[] {
  return starts
    .filter(([, ordinal], at) => ordinal <= last && (starts[at + 1]?.[1] ?? Number.MAX_SAFE_INTEGER) > first)
    .map(([partition]) => partition)
}

/** Documents of history by position; most answers have that order already. */
function sortById<T extends { readonly id: string }>(docs: readonly T[]): readonly T[] {
  return docs.every(({ id }, at) => at === 0 || id > (docs[at - 1] as T).id)
    ? docs
    : docs.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** Places per search: an index returns at most 10,000 hits, some of which prove that the copy is current. */
const MAX_PLACES = 9_000

/**
 * `View.newRecords` by places alone, the only field by which rows are found: looks up the next places of each
 * list, and further places of the lists that had all of them.
 */
async function readNewRecords(
  reader: ViewReader,
  lists: ReadonlyMap<number, number>,
  height: number,
): Promise<readonly RecordDoc[]> {
  const found = new Map<string, RecordDoc>()
  let open: (readonly [list: number, after: number])[] = [...lists]
  while (open.length > 0) {
    // A list usually has a few new rows. Two at least, so that the row after a missing one reveals it.
    const each = Math.min(64, Math.max(2, Math.floor(MAX_PLACES / open.length)))
    const further: (readonly [number, number])[] = []
    const atOnce = Math.floor(MAX_PLACES / each)
    for (let from = 0; from < open.length; from += atOnce) {
      const part = open.slice(from, from + atOnce)
      const places = part.flatMap(([list, after]) => listPlaces(list, after, each))
      const rows = await findPlaced(reader, places, height)
      for (const row of rows) found.set(row.id, row)
      const seen = new Set(rows.flatMap(({ places }) => places))
      for (const [list, after] of part) {
        const count = listPlaces(list, after, each).filter(place => seen.has(place)).length
        if (count === each) further.push([list, after + each])
      }
    }
    open = further
  }
  return sortById([...found.values()].filter(row => row.height > height))
}

function listPlaces(list: number, after: number, count: number): readonly bigint[] {
  return Array.from({ length: count }, (_, at) => toPlace(list, after + 1 + at))
}

/** Transactions up to the checkpoint with one of these hashes. */
export async function findTransactions(
  cluster: ReadCluster & ProofContext,
  { partitions, end }: Pick<Checkpoint, 'partitions' | 'end'>,
  hashes: readonly string[],
): Promise<readonly TransactionDoc[]> {
  const indices = partitions.map((_, partition) => cluster.names.partition(transactions, partition))
  const found: TransactionDoc[] = []
  const atOnce = 100
  for (let from = 0; from < hashes.length; from += atOnce) {
    const wanted = new Set(hashes.slice(from, from + atOnce))
    const query = { terms: { hash8: [...wanted].map(hash => formatHashTerm(hash8(hash))) } }
    const hits = await searchProvedHistory(cluster, indices, { query, size: MAX_FOUND * atOnce })
    for (const { _id, _source } of hits) {
      const doc = decodeDoc(transactions, _id, _source)
      if (wanted.has(doc.hash) && doc.height <= (end?.height ?? -1)) found.push(doc)
    }
  }
  return found
}
