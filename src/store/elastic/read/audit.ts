import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { Audit, PlacedRow, StoredDocument } from '#store/port.ts'
import type { Pit } from '../client/point-in-time.ts'
import { readCheckpoint, readPublished } from '../schema/checkpoint.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster, ReadCluster } from '../schema/cluster.ts'
import { decode, type Source } from '../schema/documents.ts'
import { isInCopies } from '../schema/index-states.ts'
import { AT, HEIGHT } from '../schema/mappings.ts'
import type { Names } from '../schema/names.ts'
import { partitionAt } from '../schema/partitions.ts'
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

/** The indices of each kind of document, by name of the kind. */
const wantedOf = (names: Names, { partitions }: PublishedMeta, kinds: readonly AnyIndex[]) =>
  new Map(
    kinds.map(index => [
      index.name,
      index.kind === 'state'
        ? { indices: [names.state(index)] }
        : { indices: partitions.map((_, at) => names.partition(index, at)), alias: names.history(index) },
    ]),
  )

/** Throws `OutOfDateCopy` if a document that no point in time showed is in a copy that a master has in use. */
const requireLost = async ({ connection }: Reading, { index, last }: MissingDocument): Promise<void> => {
  if (await isInCopies(connection, index, last)) throw new OutOfDateCopy(connection, index)
}

const pitOf = ({ pits }: Reading, index: AnyIndex): Pit => {
  const pit = pits.get(index.name)
  if (pit === undefined) throw new Failure('defect', `No point in time was opened for ${index.name}.`)
  return pit
}

/**
 * Whether no batch is committed beyond the published one. Then no loader wrote the newer documents, because
 * state is written only after its batch is committed.
 */
const isQuiet = async (reading: Reading): Promise<boolean> =>
  (await readCheckpoint(reading))?.checkpoint.batch === reading.at.batch

/** `scan` with `after`: only the documents of state with a stamp above it. */
type ElasticAudit = Omit<Audit, 'scan'> & {
  scan<I extends AnyIndex>(index: I, after?: number): ReturnType<typeof scan<I>>
}

const auditOf = (reading: Reading, close: () => Promise<void>): ElasticAudit => ({
  at: reading.at.end,
  scan: (index, after) => scan(reading, index, after),
  getMany: async (index, ids) => {
    const docs = new Map<string, StoredDocument<typeof index>['doc']>()
    for (let from = 0; from < ids.length; from += PAGE) {
      const hits = await hitsOf(reading, { index, ids: ids.slice(from, from + PAGE) }, { version: true })
      for (const hit of hits) docs.set(hit._id, foundOf(reading, index, hit).doc)
    }
    return ids.map(id => docs.get(id))
  },
  existing: async (index, ids) =>
    new Set((await hitsOf(reading, { index, ids }, { _source: false })).map(({ _id }) => _id)),
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
    query: { ids: { values: ids } },
    ...what,
  })
  return hits.hits.filter(hit => strayOf(reading, index, hit) === undefined)
}

const scan = async function* <I extends AnyIndex>(
  reading: Reading,
  index: I,
  after: number | undefined,
): AsyncIterable<readonly StoredDocument<I>[]> {
  const ofState = after === undefined ? { match_all: {} } : { range: { [AT]: { gt: after } } }
  const query = index.kind === 'state' ? ofState : { range: { [HEIGHT]: { lte: reading.at.end.height } } }
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
    yield hits.hits.map(hit => foundOf(reading, index, hit))
  }
}

const foundOf = <I extends AnyIndex>(reading: Reading, index: I, hit: Hit): StoredDocument<I> => {
  const stray = strayOf(reading, index, hit)
  return {
    id: hit._id,
    // Readers refuse a version newer than the published one, so it counts as unreadable.
    doc: index.kind === 'state' && hit._version > versionAt(stampOf(reading.at)) ? undefined : readable(index, hit),
    ...(stray === undefined ? {} : { stray }),
  }
}

const readable = <I extends AnyIndex>(index: I, { _id, _source }: Hit): DocOf<I> | undefined => {
  try {
    return decode(index, _id, _source)
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
