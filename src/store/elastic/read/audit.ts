import { Failure } from '#failure/failure.ts'
import { accounts } from '#indices/account.ts'
import type { DocOf } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices, type StateIndex, stateIndices } from '#indices/registry.ts'
import { series } from '#indices/series.ts'
import { missingData } from '#store/missing-data.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Audit, PlacedRow, StoredDocument } from '#store/port.ts'
import type { Pit } from '../client/point-in-time.ts'
import { readCheckpoint, readPublished } from '../schema/checkpoint.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster, ReadCluster } from '../schema/cluster.ts'
import { beforeIn, decode, type Source } from '../schema/documents.ts'
import { isInCopies } from '../schema/index-states.ts'
import { AT, HEIGHT } from '../schema/mappings.ts'
import type { Names } from '../schema/names.ts'
import { partitionAt } from '../schema/partitions.ts'
import { fromStateId, KIND, stateIndexOf, toStateId } from '../schema/state-ids.ts'
import { OutOfDateCopy } from './out-of-date.ts'
import { heightOf } from './view.ts'
import { type MissingDocument, openWholePits } from './whole-pit.ts'

/** Documents per page: transactions of a few KB each make a page of a few MB. */
const PAGE = 1_000
/** Maximum hits of a search (`index.max_result_window`). */
const WINDOW = 10_000
/** Maximum attempts. A loader publishes every few seconds, some milliseconds after its refresh. */
const TRIES = 200
const WAIT_MS = 50

type Hit = {
  readonly _index: string
  readonly _id: string
  readonly _version: number
  readonly _source: Source
  readonly sort: readonly unknown[]
}
type Hits = { readonly hits: { readonly hits: readonly Hit[] } }
type Reading = ReadCluster & { readonly pits: ReadonlyMap<string, Pit>; readonly at: PublishedMeta }

/**
 * All stored documents of one published height: one point in time per index, taken while nothing newer was
 * visible, from copies that are not out of date. Documents that such copies lack were lost. `kinds`: the kinds of document
 * that are read.
 */
export const openAudit = async (
  cluster: Cluster,
  kinds: readonly AnyIndex[] = [...historyIndices, ...stateIndices],
): Promise<ElasticAudit> => {
  const { connection, names, clock } = cluster
  for (let attempt = 0; ; attempt++) {
    const at = await readPublished(cluster)
    if (at === undefined) throw nothingLoaded(`${connection.url}/${names.prefix}`)
    const own = names.at(at.generations)
    const { pits, close, isNewer, missing } = await openWholePits(cluster, at, wantedOf(own, at, kinds))
    try {
      const reading = { connection, names: own, pits, at }
      const after = await readPublished(cluster)
      if (after?.batch === at.batch && (!isNewer || (await isQuiet(reading)))) {
        for (const lost of missing) await requireLost(reading, lost)
        return auditOf(reading, close)
      }
      await close()
    } catch (error) {
      await close().catch(() => {})
      throw error
    }
    if (attempt === TRIES)
      throw new Failure('unavailable', `The batch after height ${at.end.height} is stored but not published.`, {
        help: 'The loader was killed while publishing, or publishes too quickly for an audit. Start it again, or stop it.',
      })
    await clock.sleep(WAIT_MS)
  }
}

/** The indices that one point in time covers, by their name. */
const wantedOf = (names: Names, { partitions }: PublishedMeta, kinds: readonly AnyIndex[]) =>
  new Map(
    kinds.map(index => [
      nameOf(index),
      index.kind === 'state'
        ? { indices: [names.state(index)] }
        : { indices: partitions.map((_, at) => names.partition(index, at)), alias: names.history(index) },
    ]),
  )

/** Name of the point in time that shows an index or kind of documents. */
const nameOf = (index: AnyIndex): string => (index.kind === 'state' ? stateIndexOf(index) : index.name)

/** Throws `OutOfDateCopy` if a document that no point in time showed is in a copy that a master has in use. */
const requireLost = async ({ connection }: Reading, { index, last }: MissingDocument): Promise<void> => {
  if (await isInCopies(connection, index, last)) throw new OutOfDateCopy(connection, index)
}

const pitOf = ({ pits }: Reading, index: AnyIndex): Pit => {
  const pit = pits.get(nameOf(index))
  if (pit === undefined) throw new Failure('defect', `No point in time was opened for ${index.name}.`)
  return pit
}

/**
 * Whether no batch is committed beyond the published one. Then no loader wrote the newer documents, because
 * state is written only after its batch is committed.
 */
const isQuiet = async (reading: Reading): Promise<boolean> =>
  (await readCheckpoint(reading))?.checkpoint.batch === reading.at.batch

/** A document of state at the published height; `doc` undefined: it cannot be read. */
type PublishedDocument = {
  readonly index: StateIndex
  readonly id: string
  readonly doc: DocOf<StateIndex> | undefined
}

type ElasticAudit = Audit & {
  /** See `scanPublished`. */
  published(after: number | undefined): ReturnType<typeof scanPublished>
}

const auditOf = (reading: Reading, close: () => Promise<void>): ElasticAudit => ({
  at: reading.at.end,
  scan: index => scan(reading, index),
  published: after => scanPublished(reading, after),
  getMany: async (index, ids) => {
    const docs = new Map<string, StoredDocument<typeof index>['doc']>()
    for (let from = 0; from < ids.length; from += PAGE) {
      const hits = await hitsOf(reading, { index, ids: ids.slice(from, from + PAGE) }, { version: true })
      for (const hit of hits) {
        const { id, doc } = foundOf(reading, index, hit)
        docs.set(id, doc)
      }
    }
    return ids.map(id => docs.get(id))
  },
  existing: async (index, ids) =>
    new Set((await hitsOf(reading, { index, ids }, { _source: false })).map(({ _id }) => idOf(index, _id))),
  placed: range => placed(reading, range),
  close,
})

/** Documents from the index where readers look for them. */
const hitsOf = async (
  reading: Reading,
  { index, ids }: { readonly index: AnyIndex; readonly ids: readonly string[] },
  what: object,
): Promise<readonly Hit[]> => {
  const { hits } = await pitOf(reading, index).search<Hits>({
    size: Math.min(WINDOW, ids.length * 2),
    track_total_hits: false,
    query: { ids: { values: index.kind === 'state' ? ids.map(id => toStateId(index, id)) : ids } },
    ...what,
  })
  return hits.hits.filter(hit => strayOf(reading, index, hit) === undefined)
}

const scan = async function* <I extends AnyIndex>(
  reading: Reading,
  index: I,
): AsyncIterable<readonly StoredDocument<I>[]> {
  const ofState = stateIndexOf(index) === 'state' ? { term: { [KIND]: index.name } } : { match_all: {} }
  const query = index.kind === 'state' ? ofState : { range: { [HEIGHT]: { lte: reading.at.end.height } } }
  for await (const hits of pagesOf(reading, index, query)) yield hits.map(hit => foundOf(reading, index, hit))
}

const kinds = new Map<unknown, StateIndex>(stateIndices.map(index => [index.name, index]))

/**
 * Documents of all kinds of state with a stamp above `after` (undefined: all), as they were at the published height: a
 * document of the batch that is being sent is replaced by the one before it.
 */
async function* scanPublished(
  reading: Reading,
  after: number | undefined,
): AsyncIterable<readonly PublishedDocument[]> {
  const query = after === undefined ? { match_all: {} } : { range: { [AT]: { gt: after } } }
  for (const first of [accounts, series])
    for await (const hits of pagesOf(reading, first, query)) yield hits.flatMap(hit => publishedIn(hit, reading.at))
}

/** The document of a hit as it was at the published height; none: it was made later. */
function publishedIn(hit: Hit, at: PublishedMeta): readonly PublishedDocument[] {
  const index = kinds.get(hit._source[KIND] ?? series.name)
  if (index === undefined) throw missingData(`The document '${hit._id}' is of no known kind.`)
  const id = idOf(index, hit._id)
  const stamp = stampOf(at)
  if (hit._version <= versionAt(stamp)) return [{ index, id, doc: readable(index, hit) }]
  const before = beforeIn(hit._source)
  // What was published at another height counts as unreadable.
  if (before?.at !== stamp) return [{ index, id, doc: undefined }]
  return before.doc === undefined ? [] : [{ index, id, doc: readable(index, { ...hit, _source: before.doc }) }]
}

async function* pagesOf(reading: Reading, index: AnyIndex, query: object): AsyncGenerator<readonly Hit[]> {
  const next = (after: readonly unknown[] | undefined): Promise<Hits> => {
    const page = pitOf(reading, index).search<Hits>({
      size: PAGE,
      version: true,
      track_total_hits: false,
      sort: [{ _shard_doc: 'asc' }],
      query: { bool: { filter: [query] } },
      search_after: after,
    })
    // The search may fail before the caller awaits it.
    page.catch(() => undefined)
    return page
  }
  for (let page = next(undefined); ; ) {
    const { hits } = await page
    const last = hits.hits.at(-1)
    if (last === undefined) return
    // The server finds the next page while the caller works on this one.
    page = next(last.sort)
    yield hits.hits
  }
}

const foundOf = <I extends AnyIndex>(reading: Reading, index: I, hit: Hit): StoredDocument<I> => {
  const stray = strayOf(reading, index, hit)
  return {
    id: idOf(index, hit._id),
    // Readers refuse a version newer than the published one, so it counts as unreadable.
    doc: index.kind === 'state' && hit._version > versionAt(stampOf(reading.at)) ? undefined : readable(index, hit),
    ...(stray === undefined ? {} : { stray }),
  }
}

const idOf = (index: AnyIndex, stored: string): string => (index.kind === 'state' ? fromStateId(index, stored) : stored)

const readable = <I extends AnyIndex>(index: I, { _id, _source }: Hit): DocOf<I> | undefined => {
  try {
    return decode(index, idOf(index, _id), _source)
  } catch {
    return undefined
  }
}

/** The index of a history document that belongs in another partition. */
const strayOf = ({ names, at }: Reading, index: AnyIndex, { _index, _id }: Hit): string | undefined => {
  const height = heightOf(_id)
  if (index.kind === 'state') return undefined
  return height !== undefined && _index === names.partition(index, partitionAt(at.partitions, height))
    ? undefined
    : _index
}

const placed = async (
  reading: Reading,
  { after, until, limit }: Parameters<Audit['placed']>[0],
): Promise<readonly PlacedRow[]> => {
  const { hits } = await pitOf(reading, records).search<Hits>({
    size: Math.min(WINDOW, limit + 1),
    _source: ['places'],
    track_total_hits: false,
    query: {
      bool: {
        filter: [
          { range: { places: { gt: String(after), lte: String(until) } } },
          { range: { [HEIGHT]: { lte: reading.at.end.height } } },
        ],
      },
    },
  })
  return hits.hits
    .flatMap(({ _id, _source }) =>
      ((_source['places'] ?? []) as readonly string[]).map(place => ({ place: BigInt(place), id: _id })),
    )
    .filter(({ place }) => place > after && place <= until)
    .toSorted((a, b) => (a.place === b.place ? (a.id < b.id ? -1 : 1) : a.place < b.place ? -1 : 1))
}
