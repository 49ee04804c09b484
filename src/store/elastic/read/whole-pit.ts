import { openPit, type Pit } from '../client/point-in-time.ts'
import type { LastDocument, PublishedMeta } from '../schema/checkpoint-record.ts'
import { lastDocuments, stampOf, versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster, ReadCluster } from '../schema/cluster.ts'
import { AT } from '../schema/mappings.ts'
import { waitMs } from './known-height.ts'
import { COPIES_TRIED } from './out-of-date.ts'

/** The indices of a point in time. */
type Wanted = {
  readonly at: PublishedMeta
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
export type MissingDocument = { readonly index: string; readonly last: LastDocument }

/**
 * A point in time that shows the last document of each index, so that nothing of the published height is missing. The
 * copy of a server that was cut off lacks it; then another point in time is taken, which other copies may answer. If
 * none of several shows the document, it is lost, or no other copy can be reached: `lacks` names it.
 */
const openWholePit = async (
  { connection, clock }: Pick<ReadCluster, 'connection'> & { readonly clock: Pick<Cluster['clock'], 'sleep'> },
  { at, indices, alias, keep }: Wanted,
): Promise<Shown & { readonly pit: Pit }> => {
  for (let attempt = 0; ; attempt++) {
    const pit = await openPit(connection, alias === undefined ? indices : [alias], keep)
    try {
      const shown = await shownBy(pit, at, indices)
      if (shown.lacks === undefined || attempt + 1 >= COPIES_TRIED) return { pit, ...shown }
    } catch (error) {
      await pit.close().catch(() => undefined)
      throw error
    }
    await pit.close().catch(() => undefined)
    await clock.sleep(waitMs(attempt))
  }
}

/** Points in time of several groups of indices at a published height, by key of `wanted`; `close` closes all. */
export const openWholePits = async (
  cluster: Parameters<typeof openWholePit>[0],
  at: PublishedMeta,
  wanted: ReadonlyMap<string, Omit<Wanted, 'at'>>,
) => {
  const pits = new Map<string, Pit>()
  const close = async (): Promise<void> => {
    await Promise.all([...pits.values()].map(pit => pit.close()))
  }
  let isNewer = false
  const missing: MissingDocument[] = []
  try {
    for (const [name, each] of wanted) {
      const taken = await openWholePit(cluster, { at, ...each })
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

type Hits = {
  readonly hits: {
    readonly hits: readonly { readonly _index: string; readonly _id: string; readonly _version: number }[]
  }
}

const shownBy = async (pit: Pit, at: PublishedMeta, indices: readonly string[]): Promise<Shown> => {
  const all = lastDocuments(at)
  const lasts = indices.flatMap((index): MissingDocument[] => {
    const last = all[index]
    return last === undefined ? [] : [{ index, last }]
  })
  const { hits } = await pit.search<Hits>({
    // The last documents sort first, then any newer one.
    size: lasts.length + 1,
    version: true,
    _source: false,
    track_total_hits: false,
    query: { bool: { should: [{ range: { [AT]: { gt: stampOf(at) } } }, ...lasts.map(exactly)] } },
  })
  const isShown = ({ index, last: [id, version] }: MissingDocument): boolean =>
    hits.hits.some(hit => hit._index === index && hit._id === id && hit._version >= version)
  return {
    isNewer: hits.hits.some(({ _version }) => _version > versionAt(stampOf(at))),
    lacks: lasts.find(last => !isShown(last)),
  }
}

const exactly = ({ index, last: [id] }: MissingDocument) => ({
  constant_score: {
    filter: { bool: { filter: [{ term: { _index: index } }, { ids: { values: [id] } }] } },
    boost: 2,
  },
})
