import { type ListDoc, placeOf } from '#indices/list.ts'
import { type ListedRecord, listedRecords } from '#indices/record.ts'
import { missingData } from '#store/missing-data.ts'
import { hitsIn, type NamedRequest, requestParsed, WHOLE } from '../client/request-json.ts'
import { decode } from '../schema/documents.ts'
import { docsInHits } from '../schema/hits-text.ts'
import { INDICES_AT_ONCE } from '../schema/names.ts'
import { type Hit, searchHistory } from './history-search.ts'
import type { Reader } from './proved-docs.ts'

/** Rows per request; a page has at most some hundred, only exports have more. */
const ROWS_AT_ONCE = 5000

/** Rows `first` … `last` of a list, see `View.records`. */
export const recordsOf = async (
  reader: Reader,
  list: ListDoc,
  [first, last]: readonly [first: number, last: number],
): Promise<readonly ListedRecord[]> => {
  const from = Math.max(first, 1)
  const to = Math.min(last, list.count)
  if (to < from) return []
  if (to - from >= ROWS_AT_ONCE) return inRuns(reader, list, [from, to])
  const indices = indicesOf(reader, list, [from, to])
  const size = to - from + 1
  const places = [placeOf(list.number, from), placeOf(list.number, to)] as const
  const question = questionOf(reader, indices, { places, size })
  const what = { connection: reader.connection, what: question.what }
  let rows =
    indices.length > INDICES_AT_ONCE
      ? []
      : await requestParsed(reader.connection, question, ({ text }) => {
          return docsInHits(listedRecords, text) ?? hitsIn<Hit>(what, text).map(rowOf)
        })
  // Reads in several requests, or finds out whether a copy is out of date.
  if (rows.length !== size) rows = await provedRows(reader, indices, { places, size })
  if (rows.length !== size)
    throw missingData(
      `List '${list.id}' has ${rows.length} rows with ordinals ${from} to ${to} in ${indices.join(', ')}.`,
    )
  return inOrder(rows)
}

const inRuns = async (
  reader: Reader,
  list: ListDoc,
  [from, to]: readonly [from: number, to: number],
): Promise<readonly ListedRecord[]> => {
  const rows: ListedRecord[] = []
  for (let next = from; next <= to; next += ROWS_AT_ONCE)
    rows.push(...(await recordsOf(reader, list, [next, Math.min(to, next + ROWS_AT_ONCE - 1)])))
  return rows
}

type Wanted = { readonly places: readonly [first: bigint, last: bigint]; readonly size: number }

/** The text is concatenated from its numbers: serializing it as JSON takes as long as reading a row. */
const questionOf = (
  { signal }: Reader,
  indices: readonly string[],
  { places: [first, last], size }: Wanted,
): NamedRequest => ({
  what: `search ${indices}`,
  method: 'POST',
  path: `/${indices}/_search`,
  query: WHOLE,
  body: `{"track_total_hits":false,"query":{"range":{"places":{"gte":"${first}","lte":"${last}"}}},"size":${size}}`,
  signal,
})

const provedRows = async (
  reader: Reader,
  indices: readonly string[],
  { places: [first, last], size }: Wanted,
): Promise<readonly ListedRecord[]> => {
  const query = { range: { places: { gte: String(first), lte: String(last) } } }
  const hits = await searchHistory(reader, indices, { query, size, wanted: size })
  return hits.map(rowOf)
}

const rowOf = ({ _id, _source }: Hit): ListedRecord => decode(listedRecords, _id, _source)

/** The indices that contain rows of a list. */
const indicesOf = (reader: Reader, list: ListDoc, [first, last]: readonly [number, number]): readonly string[] =>
  partitionsOf(list.starts, first, last).map(partition => reader.recordIndices[partition] as string)

/** The partitions of a list with rows `first` … `last`; `starts` is ascending, as in the list's document. */
export const partitionsOf = (
  starts: readonly (readonly [partition: number, ordinal: number])[],
  first: number,
  last: number,
): readonly number[] =>
  starts
    .filter(([, ordinal], at) => ordinal <= last && (starts[at + 1]?.[1] ?? Number.MAX_SAFE_INTEGER) > first)
    .map(([partition]) => partition)

/** Ids have the same order as ordinals. */
const inOrder = (rows: readonly ListedRecord[]): readonly ListedRecord[] =>
  rows.every(({ id }, at) => at === 0 || id > (rows[at - 1] as ListedRecord).id)
    ? rows
    : rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
