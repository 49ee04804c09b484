import type { DocOf } from '#indices/define.ts'
import { type ListDoc, toPlace } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import type { AnyIndex, HistoryIndex, StateIndex } from '#indices/registry.ts'
import { segments } from '#indices/segment.ts'
import { countDocCharacters } from '#store/bounded-cache.ts'
import { missingData } from '#store/failures.ts'
import type { IsEnough, Moment, View } from '#store/port.ts'
import { rankingPage } from '#store/ranking.ts'
import type { Got } from '../client/read-documents.ts'
import type { Ref } from '../client/request.ts'
import { toStamp, toVersion } from '../schema/checkpoint.ts'
import { decodeDoc, formatHashTerm } from '../schema/documents.ts'
import { findPartition, type PartitionStarts, toStateId } from '../schema/names.ts'
import { NewerData } from './consistent-read.ts'
import { listRowPartitions, readNewRecords, readRows } from './list-rows.ts'
import { getBatchedDocs, type HistoryHit, searchHistory, searchProvedHistory, type ViewReader } from './proved-reads.ts'
import { findNamedDocs, readRankedRows } from './search-state.ts'

/** A view of the published height. A read throws `NewerData` if it could see newer data, unless the state is held. */
export function openView(reader: ViewReader, own: Pick<View, 'hold' | 'release' | 'edition'>): View {
  return {
    ...own,
    at: reader.published.end,
    get: async (index, id) => (await getDocs(reader, index, [id]))[0],
    getMany: (index, ids) => getDocs(reader, index, ids),
    find: (index, field, ...[value, isEnough]) => findDocs(reader, index, { field, values: [value], isEnough }),
    findAny: (index, field, ...[values, isEnough]) => findDocs(reader, index, { field, values, isEnough }),
    startingWith: (index, text, limit) =>
      findNamedDocs({ reader, getMany: ids => getDocs(reader, index, ids) }, index, { text, limit }),
    page: (index, order, options) => readPage(reader, { index, order }, options),
    records: (list, first, last) => readRows(reader, list, [first, last]),
    newRecords: (lists, height) => readNewRecords(lists, height, places => findPlaced(reader, places, height)),
    moments: (list, ordinals) => readMoments(reader, list, ordinals),
  }
}

async function readPage<I extends StateIndex>(
  reader: ViewReader,
  what: { readonly index: I; readonly order: keyof I['orders'] & string },
  options: { readonly group?: string; readonly offset: number; readonly limit: number },
): Promise<readonly DocOf<I>[]> {
  const rows = await rankingPage(
    {
      segments: ids => getDocs(reader, segments, ids),
      rows: (ranking, rows) =>
        readRankedRows({ reader, getMany: ids => getDocs(reader, what.index, ids) }, ranking, rows),
      hints: reader.hints,
    },
    what,
    options,
  )
  if (rows.length === 0) reader.onNothing()
  return rows
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
  const known = ids.map(id => (index.kind === 'state' ? reader.cache.get(index, id) : undefined))
  const refs = ids.map((id, at) => (known[at] === undefined ? toRef(reader, index, id) : undefined))
  const present = refs.filter(ref => ref !== undefined)
  const found = present.length === 0 ? [] : await getBatchedDocs(reader, present)
  let next = 0
  return refs.map((ref, at) => {
    // Cache entries are stored by name of index, so the document is of that index.
    if (ref === undefined) return known[at]?.value as DocOf<I> | undefined
    const answered = { id: ids[at] as string, got: found[next++] }
    return index.kind === 'history' ? takeHistory(reader, index, answered) : takeState(reader, index, answered)
  })
}

type AnsweredId = { readonly id: string; readonly got: Got | undefined }

/** The document in a version of the view's height, which is cached; throws `NewerData` if it is newer. */
function takeState<I extends AnyIndex>(
  { published, cache }: ViewReader,
  index: I,
  { id, got }: AnsweredId,
): DocOf<I> | undefined {
  if (got !== undefined && got.version > toVersion(toStamp(published))) throw new NewerData()
  const doc = got === undefined ? undefined : decodeDoc(index, id, got.source)
  cache.put(index, id, { doc, characters: countDocCharacters(got?.source) })
  return doc
}

function takeHistory<I extends AnyIndex>(reader: ViewReader, index: I, { id, got }: AnsweredId): DocOf<I> | undefined {
  if (got !== undefined) return decodeDoc(index, id, got.source)
  reader.onNothing()
  return undefined
}

/** undefined: no published document can have that id. */
function toRef(reader: ViewReader, index: AnyIndex, id: string): Ref | undefined {
  if (index.kind === 'state') return { index: reader.names.state(index), id: toStateId(index, id) }
  const height = parseHeight(id)
  if (height === undefined || height > reader.published.end.height) return undefined
  return { index: namePartition(reader, index, height), id }
}

function namePartition(reader: ViewReader, index: HistoryIndex, height: number): string {
  const partitions: PartitionStarts = reader.published.partitions
  return reader.names.partition(index, findPartition(partitions, height))
}

/** More documents than ever share the first 8 bytes of a hash. */
const MAX_FOUND = 16

type FindOptions<I extends HistoryIndex> = {
  readonly field: string
  readonly values: readonly bigint[]
  readonly isEnough: IsEnough<I> | undefined
}

async function findDocs<I extends HistoryIndex>(
  reader: ViewReader,
  index: I,
  { field, values, isEnough }: FindOptions<I>,
): Promise<readonly DocOf<I>[]> {
  // By name of index, because an alias may point to another generation by now.
  const indices = reader.published.partitions.map((_, partition) => reader.names.partition(index, partition))
  const terms = values.map(formatHashTerm)
  const query = terms.length === 1 ? { term: { [field]: terms[0] } } : { terms: { [field]: terms } }
  const size = MAX_FOUND * terms.length
  const wanted = terms.length
  const docsOf = (hits: readonly HistoryHit[]) =>
    sortHits(hits)
      .filter(({ _id }) => (parseHeight(_id) ?? Number.POSITIVE_INFINITY) <= reader.published.end.height)
      .map(({ _id, _source }) => decodeDoc(index, _id, _source))
  const search = {
    query,
    size,
    wanted,
    by: field,
    isEnough: isEnough && ((hits: readonly HistoryHit[]) => isEnough(docsOf(hits))),
  }
  const docs = wanted === 0 ? [] : docsOf(await searchHistory(reader, indices, search))
  const isShort = new Set(docs.map(doc => Reflect.get(doc, field))).size < wanted
  if (isShort || isEnough?.(docs) === false) reader.onNothing()
  return docs
}

/** Rows at the view's height with one of the places, in the partitions of blocks above `height`. */
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
  const indices = [...partitions].map(partition => reader.recordIndices[partition] as string)
  const places = ordinals.map(ordinal => String(toPlace(list.number, ordinal)))
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
  return sortHits(hits).map(({ _source: { height, time } }) => ({
    height: height as number,
    time: BigInt(time as string),
  }))
}

/** Sorts hits by id. */
function sortHits(hits: readonly HistoryHit[]): readonly HistoryHit[] {
  return hits.every(({ _id }, at) => at === 0 || _id > (hits[at - 1] as HistoryHit)._id)
    ? hits
    : hits.toSorted((a, b) => (a._id < b._id ? -1 : 1))
}
