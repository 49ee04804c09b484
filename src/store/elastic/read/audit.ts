import { Failure } from '#failure/failure.ts'
import { accounts } from '#indices/account.ts'
import type { DocOf } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices, type StateIndex, stateIndices } from '#indices/registry.ts'
import { series } from '#indices/series.ts'
import { missingData, nothingLoaded } from '#store/failures.ts'
import type { Audit, PlacedRow, StoredDocument } from '#store/port.ts'
import type { PublishedMeta } from '../schema/checkpoint.ts'
import { readCheckpoint, readPublished, toStamp, toVersion } from '../schema/checkpoint.ts'
import { decodeDoc, readFormerDoc } from '../schema/documents.ts'
import { isInCopies } from '../schema/index-states.ts'
import { AT, HEIGHT } from '../schema/mappings.ts'
import type { Cluster, Names, ReadCluster } from '../schema/names.ts'
import { findPartition, getStateIndex, KIND, parseStateId, toStateId } from '../schema/names.ts'
import { type Pit, type SortedHit, takePits } from './hold-view.ts'
import { OutOfDateCopy } from './proved-reads.ts'
import { parseHeight } from './view.ts'

/** Documents per page: transactions of a few KB each make a page of a few MB. */
const PAGE = 1_000
/** Maximum hits of a search (`index.max_result_window`). */
const WINDOW = 10_000

type AuditReading = ReadCluster & { readonly pits: ReadonlyMap<string, Pit>; readonly at: PublishedMeta }

/**
 * All stored documents of one published height: one point in time per index, taken while no loader was writing newer state,
 * from copies that are not out of date. Documents that such copies lack were lost. `kinds`: the kinds of document that are
 * read.
 */
export async function openAudit(
  cluster: Cluster,
  kinds: readonly AnyIndex[] = [...historyIndices, ...stateIndices],
): Promise<ElasticAudit> {
  const { connection, names, clock } = cluster
  for (let attempt = 0; ; attempt++) {
    const at = await readPublished(cluster)
    if (at === undefined) throw nothingLoaded(`${connection.url}/${names.prefix}`)
    const own = names.at(at.generations)
    const wanted = listWantedPits(own, at, kinds)
    const audit = await takePits(cluster, { at, wanted }, async ({ pits, close, isNewer, missing }) => {
      const reading = { connection, names: own, pits, at }
      const after = await readPublished(cluster)
      // If no batch is announced beyond the published one, no loader is writing the newer documents, because state is
      // written only after its batch is announced: they are of an abandoned batch or of another program.
      const isQuiet = async () => (await readCheckpoint(reading))?.checkpoint.batch === at.batch
      if (after?.batch !== at.batch || (isNewer && !(await isQuiet()))) return undefined
      // Throws if a document that no point in time showed is in a copy that a master has in use.
      for (const { index, last } of missing)
        if (await isInCopies(connection, index, last)) throw new OutOfDateCopy(connection, index)
      return createAudit(reading, close)
    })
    if (audit !== undefined) return audit
    // A loader publishes every few seconds, some milliseconds after its refresh.
    if (attempt === 200)
      throw new Failure('unavailable', `The batch after height ${at.end.height} is stored but not published.`, {
        help: 'A loader was stopped in the middle of that batch, or publishes too quickly for an audit. Start it again, or stop it.',
      })
    await clock.sleep(50)
  }
}

/** The indices that one point in time covers, by their name. */
function listWantedPits(names: Names, { partitions }: PublishedMeta, kinds: readonly AnyIndex[]) {
  return new Map(
    kinds.map(index => [
      namePit(index),
      index.kind === 'state'
        ? { indices: [names.state(index)] }
        : { indices: partitions.map((_, at) => names.partition(index, at)), alias: names.own(index.name) },
    ]),
  )
}

/** Name of the point in time that shows an index or kind of documents. */
function namePit(index: AnyIndex): string {
  return index.kind === 'state' ? getStateIndex(index) : index.name
}

function findPit({ pits }: AuditReading, index: AnyIndex): Pit {
  const pit = pits.get(namePit(index))
  if (pit === undefined) throw new Failure('defect', `No point in time was opened for ${index.name}.`)
  return pit
}

type PublishedDocument = StoredDocument<StateIndex> & { readonly index: StateIndex }
type ElasticAudit = Audit & { published(after: number | undefined): ReturnType<typeof scanPublished> }

function createAudit(reading: AuditReading, close: () => Promise<void>): ElasticAudit {
  return {
    at: reading.at.end,
    scan: index => scanIndex(reading, index),
    published: after => scanPublished(reading, after),
    getMany: async (index, ids) => {
      const docs = new Map<string, StoredDocument<typeof index>['doc']>()
      for (let from = 0; from < ids.length; from += PAGE)
        for (const hit of await searchIds(reading, { index, ids: ids.slice(from, from + PAGE) }, { version: true }))
          docs.set(toDocumentId(index, hit._id), toStored(reading, index, hit).doc)
      return ids.map(id => docs.get(id))
    },
    existing: async (index, ids) => {
      const hits = await searchIds(reading, { index, ids }, { _source: false })
      return new Set(hits.map(({ _id }) => toDocumentId(index, _id)))
    },
    placed: range => readPlaced(reading, range),
    close,
  }
}

/** Documents from the index where readers look for them. */
async function searchIds(
  reading: AuditReading,
  { index, ids }: { readonly index: AnyIndex; readonly ids: readonly string[] },
  what: object,
): Promise<readonly SortedHit[]> {
  const hits = await findPit(reading, index).search({
    size: Math.min(WINDOW, ids.length * 2),
    query: { ids: { values: index.kind === 'state' ? ids.map(id => toStateId(index, id)) : ids } },
    ...what,
  })
  return hits.filter(hit => findStray(reading, index, hit) === undefined)
}

async function* scanIndex<I extends AnyIndex>(
  reading: AuditReading,
  index: I,
): AsyncIterable<readonly StoredDocument<I>[]> {
  const ofState = getStateIndex(index) === 'state' ? { term: { [KIND]: index.name } } : { match_all: {} }
  const query = index.kind === 'state' ? ofState : { range: { [HEIGHT]: { lte: reading.at.end.height } } }
  for await (const hits of searchAll(reading, index, query)) yield hits.map(hit => toStored(reading, index, hit))
}

const kindsByName = new Map<unknown, StateIndex>(stateIndices.map(index => [index.name, index]))

/**
 * Documents of all kinds of state with a stamp above `after` (undefined: all), as they were at the published height: a
 * document of the batch that is being sent is replaced by the one before it.
 */
async function* scanPublished(
  reading: AuditReading,
  after: number | undefined,
): AsyncIterable<readonly PublishedDocument[]> {
  const query = after === undefined ? { match_all: {} } : { range: { [AT]: { gt: after } } }
  for (const first of [accounts, series])
    for await (const hits of searchAll(reading, first, query))
      yield hits.flatMap(hit => readPublishedHit(hit, reading.at))
}

/** The document of a hit as it was at the published height; none: it was made later. */
function readPublishedHit(hit: SortedHit, at: PublishedMeta): readonly PublishedDocument[] {
  const index = kindsByName.get(hit._source[KIND] ?? series.name)
  if (index === undefined) throw missingData(`The document '${hit._id}' is of no known kind.`)
  const id = toDocumentId(index, hit._id)
  const stamp = toStamp(at)
  if (hit._version <= toVersion(stamp)) return [{ index, id, doc: tryDecode(index, hit) }]
  const before = readFormerDoc(hit._source)
  // What was published at another height counts as unreadable.
  if (before?.at !== stamp) return [{ index, id, doc: undefined }]
  return before.doc === undefined ? [] : [{ index, id, doc: tryDecode(index, { ...hit, _source: before.doc }) }]
}

/** All documents that a query matches, page by page. The server finds the next page while the caller works on this one. */
async function* searchAll(
  reading: AuditReading,
  index: AnyIndex,
  query: object,
): AsyncGenerator<readonly SortedHit[], void, void> {
  const search = { size: PAGE, version: true, sort: [{ _shard_doc: 'asc' }], query: { bool: { filter: [query] } } }
  const next = (after?: readonly unknown[]): Promise<readonly SortedHit[]> => {
    const page = findPit(reading, index).search({ ...search, search_after: after })
    // The search may fail before the caller awaits it.
    page.catch(() => undefined)
    return page
  }
  for (let page = next(); ; ) {
    const hits = await page
    const isEnd = hits.length < PAGE
    if (!isEnd) page = next(hits.at(-1)?.sort)
    if (hits.length > 0) yield hits
    if (isEnd) return
  }
}

function toStored<I extends AnyIndex>(reading: AuditReading, index: I, hit: SortedHit): StoredDocument<I> {
  const stray = findStray(reading, index, hit)
  return {
    id: toDocumentId(index, hit._id),
    // Readers refuse a version newer than the published one, so it counts as unreadable.
    doc: index.kind === 'state' && hit._version > toVersion(toStamp(reading.at)) ? undefined : tryDecode(index, hit),
    ...(stray === undefined ? {} : { stray }),
  }
}

function toDocumentId(index: AnyIndex, stored: string): string {
  return index.kind === 'state' ? parseStateId(index, stored) : stored
}

function tryDecode<I extends AnyIndex>(index: I, { _id, _source }: SortedHit): DocOf<I> | undefined {
  try {
    return decodeDoc(index, toDocumentId(index, _id), _source)
  } catch {
    return undefined
  }
}

/** The index of a history document that belongs in another partition. */
function findStray({ names, at }: AuditReading, index: AnyIndex, { _index, _id }: SortedHit): string | undefined {
  if (index.kind === 'state') return undefined
  const height = parseHeight(_id)
  return height !== undefined && _index === names.partition(index, findPartition(at.partitions, height))
    ? undefined
    : _index
}

async function readPlaced(
  reading: AuditReading,
  { after, until, limit }: Parameters<Audit['placed']>[0],
): Promise<readonly PlacedRow[]> {
  const filter = [
    { range: { places: { gt: String(after), lte: String(until) } } },
    { range: { [HEIGHT]: { lte: reading.at.end.height } } },
  ]
  const hits = await findPit(reading, records).search({
    size: Math.min(WINDOW, limit + 1),
    _source: ['places'],
    query: { bool: { filter } },
  })
  return hits
    .flatMap(({ _id, _source }) =>
      ((_source['places'] ?? []) as readonly string[]).map(place => ({ place: BigInt(place), id: _id })),
    )
    .filter(({ place }) => place > after && place <= until)
    .toSorted((a, b) => (a.place === b.place ? (a.id < b.id ? -1 : 1) : a.place < b.place ? -1 : 1))
}
