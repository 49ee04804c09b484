import { hash8 } from '#chain/hash.ts'
import { type ListDoc, toPlace } from '#indices/list.ts'
import { type ListedRecord, listedRecords, type RecordDoc } from '#indices/record.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { missingData } from '#store/failures.ts'
import { type NamedRequest, parseHits, requestParsed, WHOLE } from '../client/request.ts'
import type { Checkpoint } from '../schema/checkpoint.ts'
import { decodeDoc, formatHashTerm, parseHitDocs } from '../schema/documents.ts'
import { INDICES_AT_ONCE, type ReadCluster } from '../schema/names.ts'
import {
  type HistoryHit,
  type ProofContext,
  searchHistory,
  searchProvedHistory,
  type ViewReader,
} from './proved-reads.ts'

/** Rows per request; a page has at most some hundred, only exports have more. */
const ROWS_AT_ONCE = 5000

/** Rows `first` … `last` of a list, see `View.records`. */
export async function readRows(
  reader: ViewReader,
  list: ListDoc,
  [first, last]: readonly [first: number, last: number],
): Promise<readonly ListedRecord[]> {
  const from = Math.max(first, 1)
  const to = Math.min(last, list.count)
  if (to < from) return []
  if (to - from >= ROWS_AT_ONCE) return readRuns(reader, list, [from, to])
  const indices = listRowIndices(reader, list, [from, to])
  const size = to - from + 1
  const places = [toPlace(list.number, from), toPlace(list.number, to)] as const
  const question = formatQuestion(reader, indices, { places, size })
  const what = { connection: reader.connection, what: question.what }
  let rows =
    indices.length > INDICES_AT_ONCE
      ? []
      : await requestParsed(reader.connection, question, ({ text }) => {
          return parseHitDocs(listedRecords, text) ?? parseHits<HistoryHit>(what, text).map(toRow)
        })
  // Reads in several requests, or finds out whether a copy is out of date.
  if (rows.length !== size) rows = await searchRows(reader, indices, { places, size })
  if (rows.length !== size)
    throw missingData(
      `List '${list.id}' has ${rows.length} rows with ordinals ${from} to ${to} in ${indices.join(', ')}.`,
    )
  return sortRows(rows)
}

async function readRuns(
  reader: ViewReader,
  list: ListDoc,
  [from, to]: readonly [from: number, to: number],
): Promise<readonly ListedRecord[]> {
  const rows: ListedRecord[] = []
  for (let next = from; next <= to; next += ROWS_AT_ONCE)
    rows.push(...(await readRows(reader, list, [next, Math.min(to, next + ROWS_AT_ONCE - 1)])))
  return rows
}

type WantedRows = { readonly places: readonly [first: bigint, last: bigint]; readonly size: number }

/** The text is concatenated from its numbers: serializing it as JSON takes as long as reading a row. */
function formatQuestion(
  { signal }: ViewReader,
  indices: readonly string[],
  { places: [first, last], size }: WantedRows,
): NamedRequest {
  return {
    what: `search ${indices}`,
    method: 'POST',
    path: `/${indices}/_search`,
    query: WHOLE,
    body: `{"track_total_hits":false,"query":{"range":{"places":{"gte":"${first}","lte":"${last}"}}},"size":${size}}`,
    signal,
  }
}

async function searchRows(
  reader: ViewReader,
  indices: readonly string[],
  { places: [first, last], size }: WantedRows,
): Promise<readonly ListedRecord[]> {
  const query = { range: { places: { gte: String(first), lte: String(last) } } }
  const hits = await searchHistory(reader, indices, { query, size, wanted: size })
  return hits.map(toRow)
}

function toRow({ _id, _source }: HistoryHit): ListedRecord {
  return decodeDoc(listedRecords, _id, _source)
}

/** The indices that contain rows of a list. */
function listRowIndices(
  reader: ViewReader,
  list: ListDoc,
  [first, last]: readonly [number, number],
): readonly string[] {
  return listRowPartitions(list.starts, first, last).map(partition => reader.recordIndices[partition] as string)
}

/** The partitions of a list with rows `first` … `last`; `starts` is ascending, as in the list's document. */
export function listRowPartitions(
  starts: readonly (readonly [partition: number, ordinal: number])[],
  first: number,
  last: number,
): readonly number[] {
  return starts
    .filter(([, ordinal], at) => ordinal <= last && (starts[at + 1]?.[1] ?? Number.MAX_SAFE_INTEGER) > first)
    .map(([partition]) => partition)
}

/** Ids have the same order as ordinals. */
function sortRows(rows: readonly ListedRecord[]): readonly ListedRecord[] {
  return rows.every(({ id }, at) => at === 0 || id > (rows[at - 1] as ListedRecord).id)
    ? rows
    : rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** Places per search: an index returns at most 10,000 hits, some of which prove that the copy is current. */
const MAX_PLACES = 9_000
/** Maximum rows of one list per search; a list usually has a few new ones. */
const MAX_OF_LIST = 64
/** Two, so that the row after a missing one reveals it. */
const MIN_OF_LIST = 2

/** The rows with one of the places, each row once; places without a row at this height are omitted. */
type RowsAt = (places: readonly bigint[]) => Promise<readonly RecordDoc[]>

/**
 * `View.newRecords` by places alone, the only field by which rows are found: looks up the next places of each
 * list, and further places of the lists that had all of them.
 */
export async function readNewRecords(
  lists: ReadonlyMap<number, number>,
  height: number,
  rowsAt: RowsAt,
): Promise<readonly RecordDoc[]> {
  const found = new Map<string, RecordDoc>()
  let open: (readonly [list: number, after: number])[] = [...lists]
  while (open.length > 0) {
    const each = Math.min(MAX_OF_LIST, Math.max(MIN_OF_LIST, Math.floor(MAX_PLACES / open.length)))
    const further: (readonly [number, number])[] = []
    const atOnce = Math.floor(MAX_PLACES / each)
    for (let from = 0; from < open.length; from += atOnce) {
      const part = open.slice(from, from + atOnce)
      const rows = await rowsAt(part.flatMap(([list, after]) => listPlaces(list, after, each)))
      for (const row of rows) found.set(row.id, row)
      const seen = new Set(rows.flatMap(({ places }) => places))
      for (const [list, after] of part) {
        const count = listPlaces(list, after, each).filter(place => seen.has(place)).length
        if (count === each) further.push([list, after + each])
      }
    }
    open = further
  }
  return [...found.values()]
    .filter(row => row.height > height)
    .toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

function listPlaces(list: number, after: number, count: number): readonly bigint[] {
  return Array.from({ length: count }, (_, at) => toPlace(list, after + 1 + at))
}

/** Hashes per search. */
const HASHES_AT_ONCE = 100
/** More documents than ever share the first 8 bytes of a hash. */
const MAX_FOUND = 16

/** Transactions up to the checkpoint with one of these hashes. */
export async function findTransactions(
  cluster: ReadCluster & ProofContext,
  { partitions, end }: Pick<Checkpoint, 'partitions' | 'end'>,
  hashes: readonly string[],
): Promise<readonly TransactionDoc[]> {
  const indices = partitions.map((_, partition) => cluster.names.partition(transactions, partition))
  const found: TransactionDoc[] = []
  for (let from = 0; from < hashes.length; from += HASHES_AT_ONCE) {
    const wanted = new Set(hashes.slice(from, from + HASHES_AT_ONCE))
    const query = { terms: { hash8: [...wanted].map(hash => formatHashTerm(hash8(hash))) } }
    for (const { _id, _source } of await searchProvedHistory(cluster, indices, {
      query,
      size: MAX_FOUND * HASHES_AT_ONCE,
    })) {
      const doc = decodeDoc(transactions, _id, _source)
      if (wanted.has(doc.hash) && doc.height <= (end?.height ?? -1)) found.push(doc)
    }
  }
  return found
}
