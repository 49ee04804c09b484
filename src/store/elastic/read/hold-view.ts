import { parseExact, writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import type { HeldView, HoldOptions, View } from '#store/port.ts'
import type { Hints } from '#store/ranking.ts'
import {
  callTyped,
  type ElasticConnection,
  parseAnswer,
  requestParsed,
  requireValid,
  WHOLE,
} from '../client/request.ts'
import { getLastDocuments, type LastDocument, type PublishedMeta, toStamp, toVersion } from '../schema/checkpoint.ts'
import { type DocSource, decodeDoc } from '../schema/documents.ts'
import { AT } from '../schema/mappings.ts'
import { type Cluster, getStateIndex, parseStateId, type ReadCluster, toStateId } from '../schema/names.ts'
import { COPIES_TRIED, createDeadlineFailure, getWaitMs, OutOfDateCopy } from './proved-reads.ts'
import { readPage } from './search-state.ts'

export type SortedHit = {
  readonly _index: string
  readonly _id: string
  readonly _version: number
  readonly _source: DocSource
  readonly sort: readonly unknown[]
}

/** A point in time of some indices: all its searches see the same documents, regardless of later writes. */
export type Pit = {
  /** The hits of a search; `parse` defaults to `parseJson`. */
  readonly search: (body: object, parse?: (text: string) => unknown) => Promise<readonly SortedHit[]>
  readonly close: () => Promise<void>
}

/** `keep`: keep-alive after each search; an auditor pauses less than the default between two searches. */
async function openPit(connection: ElasticConnection, indices: readonly string[], keep = '30m'): Promise<Pit> {
  const index = indices.join(',')
  const what = `search ${index}`
  let { id } = await callTyped(connection, { what }, (client, options) =>
    client.openPointInTime({ index, keep_alive: keep }, options),
  )
  type Answer = { readonly pit_id?: string; readonly hits?: { readonly hits?: readonly SortedHit[] } }
  return {
    search: (body, parse) => {
      const pit = { id, keep_alive: keep }
      const request = {
        what,
        path: '/_search',
        query: WHOLE,
        body: writeJson({ track_total_hits: false, ...body, pit }),
      }
      return requestParsed(connection, request, ({ text }, origin) => {
        const answer = parseAnswer<Answer | null>(origin, text, parse)
        const hits = requireValid(origin, answer?.hits?.hits, Array.isArray)
        id = answer?.pit_id ?? id
        return hits
      })
    },
    close: async () => {
      await callTyped(connection, { what, acceptedStatuses: [404] }, (client, options) =>
        client.closePointInTime({ id }, options),
      )
    },
  }
}

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

/** Points in time of several groups of indices at a published height, by key of `wanted`. */
type TakenPits = {
  readonly pits: ReadonlyMap<string, Pit>
  readonly close: () => Promise<void>
  readonly isNewer: boolean
  readonly missing: readonly MissingDocument[]
}

/** Takes points in time and closes them unless `use` returns something. */
export async function takePits<T>(
  cluster: PitCluster,
  { at, wanted }: { readonly at: PublishedMeta; readonly wanted: ReadonlyMap<string, WantedPit> },
  use: (taken: TakenPits) => Promise<T | undefined>,
): Promise<T | undefined> {
  const pits = new Map<string, Pit>()
  const close = async (): Promise<void> => {
    await Promise.all([...pits.values()].map(pit => pit.close()))
  }
  let isNewer = false
  const missing: MissingDocument[] = []
  let used: T | undefined
  try {
    for (const [name, each] of wanted) {
      const taken = await openWholePit(cluster, at, each)
      pits.set(name, taken.pit)
      isNewer ||= taken.isNewer
      if (taken.lacks !== undefined) missing.push(taken.lacks)
    }
    used = await use({ pits, close, isNewer, missing })
  } finally {
    if (used === undefined) await close().catch(() => undefined)
  }
  return used
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
  const hits = await pit.search({
    // The last documents sort first, then any newer one.
    size: lasts.length + 1,
    version: true,
    _source: false,
    query: { bool: { should: [{ range: { [AT]: { gt: toStamp(at) } } }, ...lasts.map(exact)] } },
  })
  const isShown = ({ index, last: [id, version] }: MissingDocument): boolean =>
    hits.some(hit => hit._index === index && hit._id === id && hit._version >= version)
  return {
    isNewer: hits.some(({ _version }) => _version > toVersion(toStamp(at))),
    lacks: lasts.find(last => !isShown(last)),
  }
}

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
    const held = await takePits(cluster, { at, wanted: new Map(wanted) }, async ({ pits, close, isNewer, missing }) => {
      const after = await published()
      const [lacks] = missing
      if (lacks !== undefined) throw new OutOfDateCopy(cluster.connection, lacks.index)
      if (signal?.aborted) throw createDeadlineFailure(`the state of height ${at.end.height} was taken`)
      if (isNewer || after.batch !== at.batch || toStamp(after) !== toStamp(at)) return undefined
      const view = createHeldView(viewOf(at), at, { pits, signal })
      return { view, close: () => void close().catch(() => undefined) }
    })
    if (held !== undefined) return held
    if (clock.elapsed() - since > timeoutMs) throw createUnpublished(at)
    await clock.sleep(getWaitMs(attempt))
  }
}

/** Documents per search. */
const HELD_AT_ONCE = 5_000

function createHeldView(
  { hold: _, ...view }: View,
  at: PublishedMeta,
  { pits, signal }: { readonly pits: ReadonlyMap<string, Pit>; readonly signal: AbortSignal | undefined },
): View {
  const hints: Hints = new Map()
  const pitOf = (index: StateIndex): Pit => {
    if (signal?.aborted) throw createDeadlineFailure(`the state of height ${at.end.height} was read`)
    const pit = pits.get(getStateIndex(index))
    if (pit === undefined) throw new Failure('defect', `No view is held for ${index.name}.`)
    return pit
  }
  const getMany: View['getMany'] = async (index, ids) => {
    if (index.kind === 'history') return view.getMany(index, ids)
    const found = new Map<string, DocOf<typeof index>>()
    for (let from = 0; from < ids.length; from += HELD_AT_ONCE) {
      const values = ids.slice(from, from + HELD_AT_ONCE).map(id => toStateId(index, id))
      for (const { _id, _source } of await pitOf(index).search({ size: values.length, query: { ids: { values } } })) {
        const doc = decodeDoc(index, parseStateId(index, _id), _source)
        found.set(doc.id, doc)
      }
    }
    return ids.map(id => found.get(id))
  }
  return {
    ...view,
    get: async (index, id) => (await getMany(index, [id]))[0],
    getMany,
    page: async (index, order, options) => {
      // Sort values may be amounts.
      const search = (body: object) => pitOf(index).search(body, parseExact)
      return readPage({ search, getMany, hints }, { index, order }, options)
    },
  }
}

/** The failure of a read whose documents stay newer than the published height. */
export function createUnpublished({ end }: PublishedMeta): Failure {
  return new Failure('unavailable', `The batch after height ${end.height} is stored but not published.`, {
    help: "A loader was stopped in the middle of that batch. Start it again, or wait until it has stored the batch. If that does not help, another program changed a document; run 'iostlens verify'.",
  })
}
