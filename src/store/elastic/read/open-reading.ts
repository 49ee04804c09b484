import { records } from '#indices/record.ts'
import { boundedCache } from '#store/bounded-cache.ts'
import { nothingLoaded, underRepair } from '#store/failures.ts'
import { createReports, type HeldView, type HoldOptions, type ReadPort, type Store } from '#store/port.ts'
import type { Hints } from '#store/ranking.ts'
import { wholeness } from '#store/wholeness.ts'
import {
  getLastDocuments,
  type LastDocuments,
  type PublishedMeta,
  readCheckpoint,
  readPublished,
} from '../schema/checkpoint.ts'
import { checkLost } from '../schema/inventory.ts'
import { type Cluster, FIRST_PARTITION, type Names } from '../schema/names.ts'
import { awaitUnlessAborted, type OpenedView, type OpenOptions, openReads, readOwnEdition } from './consistent-read.ts'
import { holdView } from './hold-view.ts'
import type { DocumentCache } from './proved-reads.ts'
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
export function createViews({ connection, names, clock, onCacheRead, hold }: ViewsOptions) {
  const hints: Hints = new Map()
  let height: Height | undefined
  const heightOf = (published: PublishedMeta): Height => {
    const now = clock.elapsed()
    if (height?.of !== published || now - height.since >= KEPT_MS) {
      const own = names.at(published.generations)
      height = {
        of: published,
        since: now,
        names: own,
        last: getLastDocuments(published),
        recordIndices: published.partitions.map((_, partition) => own.partition(records, partition)),
        remembered: createStateCache(onCacheRead),
      }
    }
    return height
  }
  return {
    open: (
      published: PublishedMeta,
      { signal, damaged = false, onRelease: release = () => undefined }: OpenOptions,
    ): OpenedView => {
      const { names, last, recordIndices, remembered } = heightOf(published)
      const opened = { foundNothing: false }
      const view = openView(
        {
          connection,
          names,
          published,
          hints,
          recordIndices,
          signal,
          pendingReads: [],
          last: damaged ? {} : last,
          cache: damaged ? NO_CACHE : remembered,
          onNothing: () => {
            opened.foundNothing = true
          },
        },
        {
          hold: state => hold({ state, signal }),
          release,
          // Answers out of damaged data are not kept.
          ...(damaged ? {} : { edition: remembered }),
        },
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
  readonly clock: Pick<Cluster['clock'], 'elapsed'>
  readonly hold: ReadPort['hold']
}

/** For a view that does not report whether its reads are of its height. */
const NO_CACHE: DocumentCache = { get: () => undefined, put: () => undefined }

export function createStateCache(onRead: (isHit: boolean) => void = () => undefined): DocumentCache {
  const docs = boundedCache<{ readonly id: string } | undefined>(MAX_CHARACTERS)
  return {
    get: (index, id) => {
      const known = docs.get(`${index.name}/${id}`)
      onRead(known !== undefined)
      return known
    },
    put: (index, id, { doc, characters }) => docs.put(`${index.name}/${id}`, doc, characters),
  }
}

/** Time that a read without its own deadline is retried, milliseconds. */
const TIMEOUT_MS = 10_000

export type ElasticReading = ReturnType<typeof openReading>

/**
 * Reads of one store: the published height, answers at one height, and refusals while data is lost. `ofAnyVersion`: also
 * indices of another version, for a migration.
 */
export function openReading(cluster: Cluster, { ofAnyVersion = false } = {}) {
  const { clock } = cluster
  const store = `${cluster.connection.url}/${cluster.names.prefix}`
  const anyPublished = (signal?: AbortSignal) => readPublished(cluster, signal)
  const readable = ofAnyVersion ? anyPublished : readOwnEdition(anyPublished, store)
  const published = () => readable(undefined)
  const { open, forget } = createViews({ ...cluster, hold: options => hold(options) })
  const whole = wholeness({ check: () => checkLost(cluster, published), elapsed: clock.elapsed })
  const { read, expire, fresh, readUnrepaired } = openReads({
    readPublished: readable,
    open,
    whole,
    onCall: cluster.onCall,
    sleep: clock.sleep,
    elapsed: clock.elapsed,
    timeoutMs: TIMEOUT_MS,
    nothing: () => nothingLoaded(store),
    underRepair: () => underRepair(store),
  })
  const requireWhole = async (signal?: AbortSignal): Promise<void> => {
    await awaitUnlessAborted(whole.require() ?? Promise.resolve(), signal, 'the store was checked')
  }
  const hold = async ({ state: indices, signal }: HoldOptions): Promise<HeldView> => {
    await requireWhole(signal)
    return holdView(cluster, {
      indices,
      signal,
      timeoutMs: TIMEOUT_MS,
      published: () => fresh(signal),
      viewOf: at => open(at, { signal }).view,
    })
  }
  const report = createReports(cluster.onCall)
  return {
    source: {
      published: () => report('published', async () => (await published())?.end),
      identity: () => report('identity', () => readIdentity(cluster)),
      read,
      hold: (options: HoldOptions) => report('hold', () => hold(options)),
    },
    partitions: async () => (await published())?.partitions ?? FIRST_PARTITION,
    whole: requireWhole,
    /** Called when this process has published a height: the next read requests it. */
    expire: (): void => {
      forget()
      expire()
    },
    /** Called when indices were created or repaired: the next read checks them again. */
    checkAgain: whole.expire,
    /** From now on this process also reads the state of an unfinished repair. */
    beginRepair: readUnrepaired,
  }
}

async function readIdentity(cluster: Cluster): ReturnType<Store['identity']> {
  const stored = await readCheckpoint(cluster)
  if (stored === undefined) return undefined
  const { chainId, genesis, derivation } = stored.checkpoint
  return { chainId, genesis, derivation }
}
