import { records } from '#indices/record.ts'
import { ENTRY_CHARACTERS } from '#store/bounded-cache.ts'
import type { Hints } from '#store/ranking-start.ts'
import type { ReadPort } from '#store/read-port.ts'
import { type LastDocuments, lastDocuments, type PublishedMeta } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import type { Names } from '../schema/names.ts'
import type { OpenedView, OpenOptions } from './consistent-read.ts'
import type { DocumentCache } from './proved-docs.ts'
import { openView } from './view.ts'

/**
 * Only a repair changes documents of a published batch; its changes are visible after this time at the
 * latest. Milliseconds.
 */
const KEPT_MS = 1_000
/** Maximum characters in the cache; 8,000,000 take at most 20 MB of memory. */
const MAX_CHARACTERS = 8_000_000

/** The data that all views of a published height share. */
type Height = {
  readonly of: PublishedMeta
  readonly since: number
  readonly names: Names
  readonly last: LastDocuments
  readonly recordIndices: readonly string[]
  readonly remembered: DocumentCache
}

/**
 * Opens views of published heights. Views of a height share a cache of its state: the documents do not change
 * until the next height is published, and each was checked when it was read. A view keeps the cache with
 * which it was opened; a view of another height gets a new one.
 */
export const viewsOf = ({ connection, names, clock, onCacheRead, hold }: ViewsOptions) => {
  const hints: Hints = new Map()
  let height: Height | undefined
  const heightOf = (published: PublishedMeta): Height => {
    const now = clock.now()
    if (height?.of !== published || Math.abs(now - height.since) >= KEPT_MS) {
      const own = names.at(published.generations)
      height = {
        of: published,
        since: now,
        names: own,
        last: lastDocuments(published),
        recordIndices: published.partitions.map((_, partition) => own.partition(records, partition)),
        remembered: rememberState(onCacheRead),
      }
    }
    return height
  }
  return {
    open: (published: PublishedMeta, { signal, damaged = false }: OpenOptions): OpenedView => {
      const { names, last, recordIndices, remembered } = heightOf(published)
      const opened = { foundNothing: false }
      const view = openView(
        {
          ...{ connection, names, published, hints, recordIndices, signal },
          pendingReads: [],
          last: damaged ? {} : last,
          cache: damaged ? NOTHING : remembered,
          onNothing: () => {
            opened.foundNothing = true
          },
        },
        state => hold({ state, ...(signal === undefined ? {} : { signal }) }),
      )
      return Object.assign(opened, { view })
    },
    /** Later views share no cache with earlier ones. */
    forget: (): void => {
      height = undefined
    },
  }
}

type ViewsOptions = Pick<Cluster, 'connection' | 'names' | 'onCacheRead'> & {
  readonly clock: Pick<Cluster['clock'], 'now'>
  readonly hold: ReadPort['hold']
}

/** For a view that does not report whether its reads are of its height. */
const NOTHING: DocumentCache = { get: () => undefined, put: () => undefined }

/** When full, the cache accepts no more entries: a second later it is dropped anyway. */
export const rememberState = (onRead: (isHit: boolean) => void = () => undefined): DocumentCache => {
  const docs = new Map<string, NonNullable<ReturnType<DocumentCache['get']>>>()
  let kept = 0
  return {
    get: (index, id) => {
      const known = docs.get(`${index.name}/${id}`)
      onRead(known !== undefined)
      return known
    },
    put: (index, id, { doc: value, characters }) => {
      const key = `${index.name}/${id}`
      const size = ENTRY_CHARACTERS + characters
      // Views that miss a document at the same time each read it; the cache stores it once.
      if (docs.has(key) || kept + size > MAX_CHARACTERS) return
      kept += size
      docs.set(key, { value })
    },
  }
}
