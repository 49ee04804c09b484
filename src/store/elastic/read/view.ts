import type { DocOf } from '#indices/define.ts'
import { type ListDoc, placeOf } from '#indices/list.ts'
import { type ListedRecord, listedRecords, records } from '#indices/record.ts'
import type { AnyIndex, HistoryIndex, StateIndex } from '#indices/registry.ts'
import { segments } from '#indices/segment.ts'
import { missingData } from '#store/missing-data.ts'
import type { Moment, View } from '#store/port.ts'
import { rankingPage } from '#store/ranking-page.ts'
import type { Ref } from '../client/bulk-item.ts'
import type { Got } from '../client/get-many.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import { decode } from '../schema/documents.ts'
import { hashTerm } from '../schema/hash-term.ts'
import { type Partitions, partitionAt, partitionsOf } from '../schema/partitions.ts'
import { Newer } from './consistent-read.ts'
import { type Hit, provedHistory, searchHistory } from './history-search.ts'
import { docsStartingWith } from './names.ts'
import { newRecordsOf } from './new-records.ts'
import { docsTogether, type Reader } from './proved-docs.ts'
import { rankedRows } from './ranking.ts'

/** A view of the published height; a read throws `Newer` if it could see anything newer. */
export const openView = (reader: Reader): View => ({
  at: reader.published.end,
  edition: reader.remembered,
  get: async (index, id) => (await getDocs(reader, index, [id]))[0],
  getMany: (index, ids) => getDocs(reader, index, ids),
  find: (index, field, value) => find(reader, index, { field, values: [value] }),
  findAny: (index, field, values) => find(reader, index, { field, values }),
  startingWith: (index, text, limit) =>
    docsStartingWith({ reader, getMany: ids => getDocs(reader, index, ids) }, index, { text, limit }),
  page: (index, order, options) => pageOf(reader, { index, order }, options),
  records: (list, first, last) => recordsOf(reader, list, { first, last }),
  newRecords: (lists, height) => newRecordsOf(lists, height, places => placedDocs(reader, places, height)),
  moments: (list, ordinals) => momentsOf(reader, list, ordinals),
})

const pageOf = async <I extends StateIndex>(
  reader: Reader,
  what: { readonly index: I; readonly order: keyof I['orders'] & string },
  options: { readonly group?: string; readonly offset: number; readonly limit: number },
): Promise<readonly DocOf<I>[]> => {
  const rows = await rankingPage(
    {
      segments: ids => getDocs(reader, segments, ids),
      rows: (ranking, rows) =>
        rankedRows({ reader, getMany: ids => getDocs(reader, what.index, ids) }, ranking, rows),
      hints: reader.hints,
    },
    what,
    options,
  )
  if (rows.length === 0) reader.onNothing()
  return rows
}

/** The height in an id of history; undefined for any other id. */
export const heightOf = (id: string): number | undefined => {
  const digits = /^\d{12}(?=-|$)/.exec(id)?.[0]
  return digits === undefined ? undefined : Number(digits)
}

const getDocs = async <I extends AnyIndex>(
  reader: Reader,
  index: I,
  ids: readonly string[],
): Promise<readonly (DocOf<I> | undefined)[]> => {
  const refs = ids.map(id => refOf(reader, index, id))
  const known = refs.map(ref => (ref === undefined ? NONE : reader.remembered.get(ref)))
  const asked = refs.filter((ref, at): ref is Ref => ref !== undefined && known[at] === undefined)
  const found = asked.length === 0 ? [] : await docsTogether(reader, asked)
  let next = 0
  return refs.map((ref, at) => {
    if (ref === undefined) return undefined
    const got =
      known[at] === undefined
        ? index.kind === 'history'
          ? reportingMissing(reader, found[next++])
          : checked(reader, ref, found[next++])
        : known[at].got
    return got === undefined ? undefined : decode(index, ref.id, got.source)
  })
}

const NONE = { got: undefined }

/** A document of the view's height, which is cached; throws `Newer` otherwise. */
const checked = (reader: Reader, ref: Ref, got: Got | undefined): Got | undefined => {
  if (got !== undefined && got.version > versionAt(stampOf(reader.published))) throw new Newer()
  reader.remembered.put(ref, got)
  return got
}

const reportingMissing = (reader: Reader, got: Got | undefined): Got | undefined => {
  if (got === undefined) reader.onNothing()
  return got
}

/** undefined: no document with that id can be published. */
const refOf = (reader: Reader, index: AnyIndex, id: string): Ref | undefined => {
  if (id === '') return undefined
  if (index.kind === 'state') return { index: reader.names.state(index), id }
  const height = heightOf(id)
  if (height === undefined || height > reader.published.end.height) return undefined
  return { index: partitionOf(reader, index, height), id }
}

const partitionOf = (reader: Reader, index: HistoryIndex, height: number): string => {
  const partitions: Partitions = reader.published.partitions
  return reader.names.partition(index, partitionAt(partitions, height))
}

/** More documents than share the first 8 bytes of a hash. */
const MOST_FOUND = 16

const find = async <I extends HistoryIndex>(
  reader: Reader,
  index: I,
  { field, values }: { readonly field: string; readonly values: readonly bigint[] },
): Promise<readonly DocOf<I>[]> => {
  // By name of index: an alias may lead to another generation by now.
  const indices = reader.published.partitions.map((_, partition) => reader.names.partition(index, partition))
  const terms = values.map(hashTerm)
  const query = terms.length === 1 ? { term: { [field]: terms[0] } } : { terms: { [field]: terms } }
  const size = MOST_FOUND * terms.length
  const found =
    terms.length === 0 ? [] : await searchHistory(reader, indices, { query, size, wanted: terms.length })
  const docs = inOrder(found)
    .filter(({ _id }) => (heightOf(_id) ?? Number.POSITIVE_INFINITY) <= reader.published.end.height)
    .map(({ _id, _source }) => decode(index, _id, _source))
  if (docs.length < terms.length) reader.onNothing()
  return docs
}

/** Rows of a list, from 1, inclusive. */
type Ordinals = { readonly first: number; readonly last: number }

/** Rows per request; a page has at most some hundred, only exports have more. */
const ROWS_AT_ONCE = 5000

const recordsOf = async (
  reader: Reader,
  list: ListDoc,
  { first, last }: Ordinals,
): Promise<readonly ListedRecord[]> => {
  const rows: ListedRecord[] = []
  const end = Math.min(last, list.count)
  for (let from = Math.max(first, 1); from <= end; from += ROWS_AT_ONCE) {
    const to = Math.min(end, from + ROWS_AT_ONCE - 1)
    const size = to - from + 1
    const indices = indicesOf(reader, list, [from, to])
    const range = { gte: String(placeOf(list.number, from)), lte: String(placeOf(list.number, to)) }
    const query = { range: { places: range } }
    const hits = await searchHistory(reader, indices, { query, size, wanted: size })
    if (hits.length !== size)
      throw missingData(
        `List '${list.id}' has ${hits.length} rows with ordinals ${from} to ${to} in ${indices.join(', ')}.`,
      )
    // Ids have the order of ordinals.
    for (const { _id, _source } of inOrder(hits)) rows.push(decode(listedRecords, _id, _source))
  }
  return rows
}

/** The indices that rows of a list are in. */
const indicesOf = (
  reader: Reader,
  list: ListDoc,
  [first, last]: readonly [number, number],
): readonly string[] =>
  partitionsOf(list.starts, first, last).map(partition => reader.names.partition(records, partition))

/** Rows of the height with one of some places, in the partitions that blocks above `height` are in. */
const placedDocs = async (reader: Reader, places: readonly bigint[], height: number) => {
  const { partitions, end } = reader.published
  const first = partitionAt(partitions, height + 1)
  const indices = partitions
    .map((_, partition) => reader.names.partition(records, partition))
    .filter((_, partition) => partition >= first)
  const query = { terms: { places: places.map(String) } }
  // A row that is not there yet is no sign of a copy that lacks it.
  const found = await provedHistory(reader, indices, { query, size: places.length })
  return found
    .map(({ _id, _source }) => decode(records, _id, _source))
    .filter(row => row.height <= end.height)
}

const momentsOf = async (
  reader: Reader,
  list: ListDoc,
  ordinals: readonly number[],
): Promise<readonly Moment[]> => {
  const partitions = new Set(ordinals.flatMap(ordinal => partitionsOf(list.starts, ordinal, ordinal)))
  const indices = [...partitions].map(partition => reader.names.partition(records, partition))
  const places = ordinals.map(ordinal => String(placeOf(list.number, ordinal)))
  const hits = await searchHistory(reader, indices, {
    query: { terms: { places } },
    size: ordinals.length,
    wanted: ordinals.length,
    _source: ['height', 'time'],
  })
  if (hits.length !== ordinals.length)
    throw missingData(
      `List '${list.id}' has ${hits.length} of its rows ${ordinals.join(', ')} in ${indices.join(', ')}.`,
    )
  return inOrder(hits).map(({ _source: { height, time } }) => ({
    height: height as number,
    time: BigInt(time as string),
  }))
}

/** By id. */
const inOrder = (hits: readonly Hit[]): readonly Hit[] =>
  hits.every(({ _id }, at) => at === 0 || _id > (hits[at - 1] as Hit)._id)
    ? hits
    : hits.toSorted((a, b) => (a._id < b._id ? -1 : 1))
