import { records } from '#indices/record.ts'
import { boundedCache } from '#store/bounded-cache.ts'
import { nothingLoaded, underRepair } from '#store/failures.ts'
import { createReports, type HeldView, type HoldOptions, type ReadPort } from '#store/port.ts'
import type { Hints } from '#store/ranking.ts'
import { wholeness } from '#store/wholeness.ts'
import { getLastDocuments, type PublishedMeta, readCheckpoint, readPublished } from '../schema/checkpoint.ts'
import { checkLost } from '../schema/inventory.ts'
import { type Cluster, FIRST_PARTITION } from '../schema/names.ts'
import { awaitUnlessAborted, type OpenedView, type OpenOptions, openReads, readOwnEdition } from './consistent-read.ts'
import { holdView } from './hold-view.ts'
import type { DocumentCache } from './proved-reads.ts'
import { openView } from './view.ts'

/**
 * Opens views of published heights. Views of a height share a cache of its state: the documents do not change
 * until the next height is published, and each was checked when it was read. A view keeps the cache with
 * which it was opened; a view of another height gets a new one.
 */
export function createViews({ connection, names, clock, onCacheRead, hold }: ViewsOptions) {
  const hints: Hints = new Map()
  /** The data that all views of a published height share. */
  const readHeight = (of: PublishedMeta, since: number) => {
    const own = names.at(of.generations)
    return {
      of,
      since,
      names: own,
      last: getLastDocuments(of),
      recordIndices: of.partitions.map((_, partition) => own.partition(records, partition)),
      remembered: createStateCache(onCacheRead),
    }
  }
  let height: ReturnType<typeof readHeight> | undefined
  const heightOf = (published: PublishedMeta) => {
    const now = clock.elapsed()
    // Only a repair changes documents of a published batch; its changes are visible after this time at the latest.
    if (height?.of !== published || now - height.since >= 1_000) height = readHeight(published, now)
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
          // Such a view does not report whether its reads are of its height.
          cache: damaged ? { get: () => undefined, put: () => undefined } : remembered,
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

type ViewsOptions = Pick<Cluster, 'connection' | 'names' | 'onCacheRead'> &
  Pick<ReadPort, 'hold'> & { readonly clock: Pick<Cluster['clock'], 'elapsed'> }

export function createStateCache(onRead: (isHit: boolean) => void = () => undefined): DocumentCache {
  // This many characters take at most 20 MB of memory.
  const docs = boundedCache<{ readonly id: string } | undefined>(8_000_000)
  return {
    get: (index, id) => {
      const known = docs.get(`${index.name}/${id}`)
      onRead(known !== undefined)
      return known
    },
    put: (index, id, { doc, characters }) => docs.put(`${index.name}/${id}`, doc, characters),
  }
}

export type ElasticReading = ReturnType<typeof openReading>

/**
 * Reads of one store: the published height, answers at one height, and refusals while data is lost. `ofAnyVersion`: also
 * indices of another version, for a migration.
 */
export function openReading(cluster: Cluster, { ofAnyVersion = false } = {}) {
  const { clock } = cluster
  /** Time that a read without its own deadline is retried. */
  const timeoutMs = 10_000
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
    timeoutMs,
    nothing: () => nothingLoaded(store),
    underRepair: () => underRepair(store),
  })
  const requireWhole = async (signal?: AbortSignal): Promise<void> => {
    await awaitUnlessAborted(whole.require() ?? Promise.resolve(), signal, 'the store was checked')
  }
  const hold = async (options: HoldOptions): Promise<HeldView> => {
    const { signal } = options
    await requireWhole(signal)
    const viewOf = (at: PublishedMeta) => open(at, { signal }).view
    return holdView(cluster, { ...options, timeoutMs, published: () => fresh(signal), viewOf })
  }
  const report = createReports(cluster.onCall)
  return {
    source: {
      published: () => report('published', async () => (await published())?.end),
      identity: () =>
        report('identity', async () => {
          const { checkpoint: is } = (await readCheckpoint(cluster)) ?? {}
          return is && { chainId: is.chainId, genesis: is.genesis, derivation: is.derivation }
        }),
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
