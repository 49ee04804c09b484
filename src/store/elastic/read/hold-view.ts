import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import type { AnyIndex, StateIndex } from '#indices/registry.ts'
import type { HeldView, View } from '#store/port.ts'
import { type Ranking, rankingOf } from '#store/ranking-page.ts'
import type { Pit } from '../client/point-in-time.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { decode, type Source } from '../schema/documents.ts'
import { fromStateId, stateIndexOf, toStateId } from '../schema/state-ids.ts'
import { deadlinePassed, unpublished } from './consistent-read.ts'
import { waitMs } from './known-height.ts'
import { OutOfDateCopy } from './out-of-date.ts'
import { queryOf } from './ranking.ts'
import { openWholePits } from './whole-pit.ts'

/** Keep-alive of points in time that nobody closes: longer than a reader stalls or its plan makes it wait. */
const KEEP = '5m'
/** Documents per search: each search skips all documents that were read before. */
const AT_ONCE = 5_000

type Options = {
  readonly indices: readonly StateIndex[]
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  /** The current published height, never below one seen before. */
  readonly published: () => Promise<PublishedMeta>
  readonly viewOf: (at: PublishedMeta) => View
}

type Hit = {
  readonly _id: string
  readonly _version: number
  readonly _source: Source
  readonly sort: readonly unknown[]
}
type Hits = { readonly hits: { readonly hits: readonly Hit[] } }

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
 * Between the refresh of a batch and its publication there are newer documents: the attempt is repeated.
 */
export const holdView = async (
  cluster: ReadCluster & { readonly clock: { now(): number; sleep(ms: number): Promise<void> } },
  options: Options,
): Promise<HeldView> => {
  const { signal, timeoutMs, published, viewOf } = options
  const { clock } = cluster
  const since = clock.now()
  for (let attempt = 0; ; attempt++) {
    const at = await published()
    const names = cluster.names.at(at.generations)
    const wanted = options.indices.map(
      index => [stateIndexOf(index), { indices: [names.state(index)], keep: KEEP }] as const,
    )
    const { pits, close, isNewer, missing } = await openWholePits(cluster, at, new Map(wanted))
    const end = (): void => void close().catch(() => undefined)
    try {
      const after = await published()
      const [lacks] = missing
      if (lacks !== undefined) throw new OutOfDateCopy(cluster.connection, lacks.index)
      if (!isNewer && after.batch === at.batch && stampOf(after) === stampOf(at)) {
        if (signal?.aborted) throw deadlinePassed(`the state of height ${at.end.height} was taken`)
        return { view: heldView(viewOf(at), { at, pits, signal }), close: end }
      }
    } catch (error) {
      end()
      throw error
    }
    await close().catch(() => undefined)
    if (signal?.aborted) throw deadlinePassed(`the state of height ${at.end.height} was taken`)
    if (clock.now() - since > timeoutMs) throw unpublished(at)
    await clock.sleep(waitMs(attempt))
  }
}

type Taken = {
  readonly at: PublishedMeta
  readonly pits: ReadonlyMap<string, Pit>
  readonly signal: AbortSignal | undefined
}

const heldView = ({ hold: _, ...view }: View, { at, pits, signal }: Taken): View => {
  const pitOf = (index: AnyIndex): Pit => {
    if (signal?.aborted) throw deadlinePassed(`the state of height ${at.end.height} was read`)
    const pit = index.kind === 'state' ? pits.get(stateIndexOf(index)) : undefined
    if (pit === undefined) throw new Failure('defect', `No view is held for ${index.name}.`)
    return pit
  }
  const cursors = new Map<string, ReturnType<typeof cursorOf>>()
  const getMany = async <I extends AnyIndex>(index: I, ids: readonly string[]) => {
    if (index.kind === 'history') return view.getMany(index, ids)
    const found = new Map<string, DocOf<I>>()
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const values = ids.slice(from, from + AT_ONCE).map(id => toStateId(index, id))
      const body = { size: values.length, version: true, track_total_hits: false, query: { ids: { values } } }
      for (const { _id, _source } of exactly(at, await pitOf(index).search<Hits>(body))) {
        const id = fromStateId(index, _id)
        found.set(id, decode(index, id, _source))
      }
    }
    return ids.map(id => found.get(id))
  }
  return {
    ...view,
    get: async (index, id) => (await getMany(index, [id]))[0],
    getMany,
    page: async <I extends StateIndex>(
      index: I,
      order: keyof I['orders'] & string,
      { group, offset, limit }: { readonly group?: string; readonly offset: number; readonly limit: number },
    ) => {
      const key = JSON.stringify([index.name, order, group])
      const pit = pitOf(index)
      const cursor = cursors.get(key) ?? cursorOf(pit, at, rankingOf({ index, order, group }) as Ranking<StateIndex>)
      cursors.set(key, cursor)
      // Documents of the index of the ranking.
      return (await cursor(offset, limit)) as unknown as readonly DocOf<I>[]
    },
  }
}

/**
 * Documents of a ranking from one end to the other, for sequential callers; a step back starts from the top.
 * The next documents are read while the previous ones are used.
 */
const cursorOf = (pit: Pit, at: PublishedMeta, { index, order, group }: Ranking<StateIndex>) => {
  const { query, sort } = queryOf({ index, order, group })
  const search = async (after: readonly unknown[] | undefined): Promise<readonly Hit[]> => {
    const answer = await pit.search<Hits>({
      size: AT_ONCE,
      version: true,
      track_total_hits: false,
      query,
      sort: [...sort, { _shard_doc: 'asc' }],
      search_after: after,
    })
    return exactly(at, answer)
  }
  const begin = (): Walk => ({ position: 0, ready: [], next: search(undefined) })
  /** Takes the documents that were read ahead, and begins to read the next ones. */
  const more = async (walk: Walk): Promise<void> => {
    const hits = (await walk.next) ?? []
    const last = hits.at(-1)
    walk.next = undefined
    // A double among the sort values cannot represent every amount; the document has the amount as text.
    if (last !== undefined && hits.length === AT_ONCE) walk.next = search([...keysOf(last, sort), last.sort.at(-1)])
    // The failure is thrown when these documents are needed.
    walk.next?.catch(() => undefined)
    walk.ready = walk.ready.length === 0 ? hits : [...walk.ready, ...hits]
  }
  const pass = async (walk: Walk, count: number): Promise<readonly Hit[]> => {
    while (walk.ready.length < count && walk.next !== undefined) await more(walk)
    const passed = walk.ready.slice(0, count)
    walk.ready = walk.ready.slice(count)
    walk.position += passed.length
    return passed
  }
  let walk: Walk | undefined
  let before: Promise<unknown> = Promise.resolve()
  const read = async (offset: number, limit: number) => {
    if (walk === undefined || offset < walk.position) walk = begin()
    while (walk.position < offset)
      if ((await pass(walk, Math.min(AT_ONCE, offset - walk.position))).length === 0) return []
    return (await pass(walk, limit)).map(({ _id, _source }) => decode(index, fromStateId(index, _id), _source))
  }
  return (offset: number, limit: number): ReturnType<typeof read> => {
    const own = before.then(() => read(offset, limit))
    before = own.catch(() => undefined)
    return own
  }
}

/**
 * Number of documents passed, the documents read beyond that, and the search for the following ones; undefined: none.
 */
type Walk = { position: number; ready: readonly Hit[]; next: Promise<readonly Hit[]> | undefined }

/** The values by which the ranking sorts a hit. */
const keysOf = ({ _id, _source }: Hit, sort: ReturnType<typeof queryOf>['sort']): readonly unknown[] =>
  sort.flatMap(Object.keys).map(field => {
    const value = _source[field]
    if (value === undefined || value === null)
      throw new Failure('defect', `Document '${_id}' has no ${field}, by which it is sorted.`)
    return value
  })

/** The hits, none of which is newer than the held height. */
const exactly = (at: PublishedMeta, { hits }: Hits): readonly Hit[] => {
  for (const { _id, _version } of hits.hits)
    if (_version > versionAt(stampOf(at)))
      throw new Failure('defect', `Document '${_id}' is newer than height ${at.end.height}, which is held.`)
  return hits.hits
}
