import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import type { AnyIndex, StateIndex } from '#indices/registry.ts'
import type { HeldView, HoldOptions, View } from '#store/port.ts'
import { type Ranking, requireRanking } from '#store/ranking.ts'
import type { SortedHit, SortedHits } from '../client/read-documents.ts'
import { openPit, type Pit, searchPages } from '../client/read-documents.ts'
import { getLastDocuments, type LastDocument, type PublishedMeta, toStamp, toVersion } from '../schema/checkpoint.ts'
import { decodeDoc } from '../schema/documents.ts'
import { AT } from '../schema/mappings.ts'
import { type Cluster, fromStateId, getStateIndex, type ReadCluster, toStateId } from '../schema/names.ts'
import { COPIES_TRIED, createDeadlineFailure, createUnpublished, getWaitMs, OutOfDateCopy } from './consistent-read.ts'
import { toQuery } from './search-state.ts'

type WantedPit = {
  /** Indices with one shard each. */
  readonly indices: readonly string[]
  /** Alias of the indices; absent: they are listed by name. */
  readonly alias?: string
  /** Keep-alive after each search; absent: as long as an audit needs. */
  readonly keep?: string
}

/** The documents of the published height that a point in time shows. */
type Shown = {
  /** Whether it shows a document written after the published height. */
  readonly isNewer: boolean
  /** The first index without its last document, and that document; undefined: each index has its own. */
  readonly lacks: MissingDocument | undefined
}
type PitCluster = Pick<ReadCluster, 'connection'> & { readonly clock: Pick<Cluster['clock'], 'sleep'> }
type MissingDocument = { readonly index: string; readonly last: LastDocument }

/**
 * A point in time that shows the last document of each index, so that nothing of the published height is missing. The
 * copy of a server that was cut off lacks it; then another point in time is taken, which other copies may answer. If
 * none of several shows the document, it is lost, or no other copy can be reached: `lacks` names it.
 */
async function openWholePit(
  { connection, clock }: PitCluster,
  at: PublishedMeta,
  { indices, alias, keep }: WantedPit,
): Promise<Shown & { readonly pit: Pit }> {
  for (let attempt = 0; ; attempt++) {
    const pit = await openPit(connection, alias === undefined ? indices : [alias], keep)
    try {
      const shown = await findShown(pit, at, indices)
      if (shown.lacks === undefined || attempt + 1 >= COPIES_TRIED) return { pit, ...shown }
    } catch (error) {
      await pit.close().catch(() => undefined)
      throw error
    }
    await pit.close().catch(() => undefined)
    await clock.sleep(getWaitMs(attempt))
  }
}

/** Points in time of several groups of indices at a published height, by key of `wanted`; `close` closes all. */
export async function openWholePits(cluster: PitCluster, at: PublishedMeta, wanted: ReadonlyMap<string, WantedPit>) {
  const pits = new Map<string, Pit>()
  const close = async (): Promise<void> => {
    await Promise.all([...pits.values()].map(pit => pit.close()))
  }
  let isNewer = false
  const missing: MissingDocument[] = []
  try {
    for (const [name, each] of wanted) {
      const taken = await openWholePit(cluster, at, each)
      pits.set(name, taken.pit)
      isNewer ||= taken.isNewer
      if (taken.lacks !== undefined) missing.push(taken.lacks)
    }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
  return { pits, close, isNewer, missing }
}

async function findShown(pit: Pit, at: PublishedMeta, indices: readonly string[]): Promise<Shown> {
  const all = getLastDocuments(at)
  const lasts = indices.flatMap((index): MissingDocument[] => {
    const last = all[index]
    return last === undefined ? [] : [{ index, last }]
  })
  const exact = ({ index, last: [id] }: MissingDocument) => {
    const filter = { bool: { filter: [{ term: { _index: index } }, { ids: { values: [id] } }] } }
    return { constant_score: { filter, boost: 2 } }
  }
  const { hits } = await pit.search<SortedHits>({
    // The last documents sort first, then any newer one.
    size: lasts.length + 1,
    version: true,
    _source: false,
    track_total_hits: false,
    query: { bool: { should: [{ range: { [AT]: { gt: toStamp(at) } } }, ...lasts.map(exact)] } },
  })
  const isShown = ({ index, last: [id, version] }: MissingDocument): boolean =>
    hits.hits.some(hit => hit._index === index && hit._id === id && hit._version >= version)
  return {
    isNewer: hits.hits.some(({ _version }) => _version > toVersion(toStamp(at))),
    lacks: lasts.find(last => !isShown(last)),
  }
}

/** Documents per search: each search skips all documents that were read before. */
const HELD_AT_ONCE = 5_000

/**
 * A point in time of each index that is exactly the state of a published height. The reasons:
 *
 * - All data of a height is searchable before the height is published. The point in time is taken after the
 *   height was read, from a copy that shows the index's last document, so nothing of the height is missing.
 * - Every document has the stamp of the batch that wrote it, and only a repair deletes documents. The point
 *   in time is used only if it has no document with a later stamp, so nothing is newer than the height.
 * - A repair closes the published record before it reverts anything. If the record is unchanged after the
 *   points in time were taken, none of them was taken during a repair.
 *
 * Between the refresh of a batch and its publication, and after a batch was abandoned, there are newer documents: the
 * attempt is repeated. `published`: reads the current published height, never below one seen before.
 */
export async function holdView(
  cluster: ReadCluster & { readonly clock: { elapsed(): number; sleep(ms: number): Promise<void> } },
  options: HoldOptions & {
    readonly timeoutMs: number
    published(): Promise<PublishedMeta>
    viewOf(at: PublishedMeta): View
  },
): Promise<HeldView> {
  const { signal, timeoutMs, published, viewOf } = options
  const { clock } = cluster
  const since = clock.elapsed()
  for (let attempt = 0; ; attempt++) {
    const at = await published()
    const names = cluster.names.at(at.generations)
    // Kept, if nobody closes them, longer than a reader stalls or its plan makes it wait.
    const wanted = options.state.map(
      index => [getStateIndex(index), { indices: [names.state(index)], keep: '5m' }] as const,
    )
    const { pits, close, isNewer, missing } = await openWholePits(cluster, at, new Map(wanted))
    const end = (): void => void close().catch(() => undefined)
    try {
      const after = await published()
      const [lacks] = missing
      if (lacks !== undefined) throw new OutOfDateCopy(cluster.connection, lacks.index)
      if (!isNewer && after.batch === at.batch && toStamp(after) === toStamp(at)) {
        if (signal?.aborted) throw createDeadlineFailure(`the state of height ${at.end.height} was taken`)
        return { view: createHeldView(viewOf(at), at, { pits, signal }), close: end }
      }
    } catch (error) {
      end()
      throw error
    }
    await close().catch(() => undefined)
    if (signal?.aborted) throw createDeadlineFailure(`the state of height ${at.end.height} was taken`)
    if (clock.elapsed() - since > timeoutMs) throw createUnpublished(at)
    await clock.sleep(getWaitMs(attempt))
  }
}

function createHeldView(
  { hold: _, ...view }: View,
  at: PublishedMeta,
  { pits, signal }: { readonly pits: ReadonlyMap<string, Pit>; readonly signal: AbortSignal | undefined },
): View {
  const pitOf = (index: AnyIndex): Pit => {
    if (signal?.aborted) throw createDeadlineFailure(`the state of height ${at.end.height} was read`)
    const pit = index.kind === 'state' ? pits.get(getStateIndex(index)) : undefined
    if (pit === undefined) throw new Failure('defect', `No view is held for ${index.name}.`)
    return pit
  }
  const cursors = new Map<string, ReturnType<typeof openCursor>>()
  const getMany = async <I extends AnyIndex>(index: I, ids: readonly string[]) => {
    if (index.kind === 'history') return view.getMany(index, ids)
    const found = new Map<string, DocOf<I>>()
    for (let from = 0; from < ids.length; from += HELD_AT_ONCE) {
      const values = ids.slice(from, from + HELD_AT_ONCE).map(id => toStateId(index, id))
      const body = { size: values.length, version: true, track_total_hits: false, query: { ids: { values } } }
      const { hits } = await pitOf(index).search<SortedHits>(body)
      for (const { _id, _source } of requireExact(at, hits.hits)) {
        const doc = decodeDoc(index, fromStateId(index, _id), _source)
        found.set(doc.id, doc)
      }
    }
    return ids.map(id => found.get(id))
  }
  return {
    ...view,
    get: async (index, id) => (await getMany(index, [id]))[0],
    getMany,
    page: async (index, order, { group, offset, limit }) => {
      const key = JSON.stringify([index.name, order, group])
      const pit = pitOf(index)
      const cursor =
        cursors.get(key) ?? openCursor(pit, at, requireRanking({ index, order, group }) as Ranking<StateIndex>)
      cursors.set(key, cursor)
      // Documents of the index of the ranking.
      return (await cursor(offset, limit)) as unknown as readonly DocOf<typeof index>[]
    },
  }
}

/** Documents of a ranking from one end to the other, for sequential callers; a step back starts from the top. */
function openCursor(pit: Pit, at: PublishedMeta, { index, order, group }: Ranking<StateIndex>) {
  const { query, sort } = toQuery({ index, order, group })
  const search = { size: HELD_AT_ONCE, query, sort: [...sort, { _shard_doc: 'asc' }] }
  // A double among the sort values cannot represent every amount; the document has the amount as text.
  const keysOf = ({ _id, _source, sort: values }: SortedHit): readonly unknown[] => {
    const keys = sort.flatMap(Object.keys).map(field => {
      const value = _source[field]
      if (value === undefined || value === null)
        throw new Failure('defect', `Document '${_id}' has no ${field}, by which it is sorted.`)
      return value
    })
    return [...keys, values.at(-1)]
  }
  const open = () => searchPages(pit, search, keysOf)
  let pages = open()
  let position = 0
  let ready: readonly SortedHit[] = []
  const begin = (): void => {
    pages = open()
    position = 0
    ready = []
  }
  const pass = async (count: number): Promise<readonly SortedHit[]> => {
    while (ready.length < count) {
      const page = await pages.next()
      if (page.done) break
      ready = [...ready, ...requireExact(at, page.value)]
    }
    const passed = ready.slice(0, count)
    ready = ready.slice(count)
    position += passed.length
    return passed
  }
  const read = async (offset: number, limit: number) => {
    if (offset < position) begin()
    try {
      while (position < offset) if ((await pass(Math.min(HELD_AT_ONCE, offset - position))).length === 0) return []
      return (await pass(limit)).map(({ _id, _source }) => decodeDoc(index, fromStateId(index, _id), _source))
    } catch (error) {
      // After a failure the pages are at their end.
      begin()
      throw error
    }
  }
  let before: Promise<unknown> = Promise.resolve()
  return (offset: number, limit: number): ReturnType<typeof read> => {
    const own = before.then(() => read(offset, limit))
    before = own.catch(() => undefined)
    return own
  }
}

function requireExact(at: PublishedMeta, hits: readonly SortedHit[]): readonly SortedHit[] {
  for (const { _id, _version } of hits)
    if (_version > toVersion(toStamp(at)))
      throw new Failure('defect', `Document '${_id}' is newer than height ${at.end.height}, which is held.`)
  return hits
}
