import { Failure } from '#failure/failure.ts'
import { boundedCache } from '#store/bounded-cache.ts'
import { nothingLoaded, otherVersion, underRepair } from '#store/failures.ts'
import { type CallEnd, createReports, type HeldView, type HoldOptions, type ReadPort, type View } from '#store/port.ts'
import type { Hints } from '#store/ranking.ts'
import { watchWholeness } from '#store/wholeness.ts'
import { awaitLimited } from '#time/deadline.ts'
import { isMissingIndex } from '../client/request.ts'
import {
  getLastDocuments,
  type PublishedMeta,
  readCheckpoint,
  readPublished,
  toPublishedStamp,
  toStamp,
} from '../schema/checkpoint.ts'
import { checkLost } from '../schema/inventory.ts'
import { EDITION } from '../schema/mappings.ts'
import { type Cluster, FIRST_PARTITION, type Names } from '../schema/names.ts'
import { createUnpublished, holdView } from './hold-view.ts'
import {
  awaitUnlessAborted,
  COPIES_TRIED,
  type CopiesByIndex,
  createDeadlineFailure,
  getWaitMs,
  NewerData,
  OutOfDateCopy,
  type StateCache,
} from './proved-reads.ts'
import { openView } from './view.ts'

type HeightOptions = {
  readonly readPublished: (signal: AbortSignal | undefined) => Promise<PublishedMeta | undefined>
  readonly clock: Pick<Cluster['clock'], 'elapsed' | 'sleep'>
  /** Name of the store, for messages. */
  readonly store: string
}

/**
 * The published height is read once for all callers within this time, in milliseconds. A busy service reads
 * it a hundred times a second, not once per request.
 */
export const READ_SERVES_MS = 10

/** The published height as this process knows it: the last known height, and ways to read it again. */
function openHeight({ readPublished, clock, store }: HeightOptions) {
  let known: PublishedMeta | undefined
  /** The last read that serves other callers, too; `isRead`: whether it did not fail. */
  let shared: { readonly at: number; readonly isRead: Promise<boolean> } | undefined
  let mayReadUnrepaired = false

  const requireReadable = (): PublishedMeta => {
    if (known === undefined) throw nothingLoaded(store)
    if (known.mending && !mayReadUnrepaired) throw underRepair(store)
    return known
  }
  const fresh = async (signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    const least = toPublishedStamp(known)
    let read = await readPublished(signal)
    // Replicas lag: a read may return an older height, which is ignored. If it stays so for about a second, the store was
    // recreated.
    for (let attempt = 0; attempt < 24 && toPublishedStamp(read) < least; attempt++) {
      await clock.sleep(getWaitMs(attempt))
      read = await readPublished(signal)
    }
    // A read that began later and ended sooner may have found a newer height meanwhile.
    const isPassed = read !== undefined && toPublishedStamp(known) > Math.max(least, toStamp(read))
    // An equal record keeps its object and thus its cache. A batch is published again with its inventory.
    if (!isPassed && (read === undefined || !Bun.deepEquals(read, known))) known = read
    return requireReadable()
  }
  return {
    known: () => known,
    fresh,
    /**
     * Like `fresh`, or another caller's recent read; `known` may be newer than that read, never older. A read that failed,
     * or whose caller gave up, is not used for other callers.
     */
    current: async (signal: AbortSignal | undefined): Promise<PublishedMeta> => {
      const at = clock.elapsed()
      if (shared !== undefined && at - shared.at < READ_SERVES_MS)
        return (await shared.isRead) ? requireReadable() : fresh(signal)
      const reading = fresh(signal)
      const isRead = reading.then(
        () => true,
        () => false,
      )
      shared = { at, isRead }
      return reading
    },
    /** Called after a publication: the next caller reads the height itself. */
    expire: (): void => {
      shared = undefined
    },
    /** From now on the state of an unfinished repair is read, too. */
    readUnrepaired: (): void => {
      mayReadUnrepaired = true
    },
  }
}

/** A view of a height, and whether it missed a document that may have been lost. */
type OpenedView = { readonly view: View; foundNothing: boolean }

type OpenOptions = {
  readonly signal?: AbortSignal | undefined
  /** Reads the stored data even if it is damaged or out of date. */
  readonly damaged?: boolean
  /** Called when the work needs no more of the view. */
  readonly onRelease?: () => void
}

type ReadsOptions = HeightOptions & {
  readonly open: (at: PublishedMeta, how: OpenOptions) => OpenedView
  readonly whole: Pick<ReturnType<typeof watchWholeness>, 'require' | 'requireNow'>
  /** Maximum time that a read without a signal is retried, milliseconds. */
  readonly timeoutMs: number
  readonly onCall?: ((end: CallEnd) => void) | undefined
}

type Attempt = {
  readonly at: PublishedMeta
  readonly failure: unknown
  /** Whether it missed a document that may have been lost. */
  readonly mayBeLost: boolean
  readonly attempt: number
  readonly since: number
}

/** `awaited`: what a read waits for, to complete "The deadline passed before". */
type Progress = { awaited: string; retries: number }

const STORE_CHECKED = 'the store was checked'
const HEIGHT_READ = 'the published height was read'

/**
 * Runs work on views of one height. State documents have the stamp of the batch that wrote them, and every read of a
 * view refuses newer ones. A copy that lacks the last written document is refused as well, and the read begins again,
 * possibly on another copy. So work that succeeds is true at the view's height, however long it took and however long
 * that height was known before.
 *
 * The height known from the last call saves a round trip: work begins with it while the published height is read, and
 * counts only if both are the same. A call always sees a height that was published `READ_SERVES_MS` before it.
 *
 * Failures and empty results count only if the store has lost no data.
 */
export function createReads(options: ReadsOptions) {
  const { open, whole, clock, onCall } = options
  const height = openHeight(options)
  const readUntilRight = async <T>(
    work: (view: View) => Promise<T>,
    how: OpenOptions,
    progress: Progress,
  ): Promise<T> => {
    const since = clock.elapsed()
    if (!how.damaged) await whole.require()
    progress.awaited = HEIGHT_READ
    let current: PublishedMeta | Promise<PublishedMeta> = height.current(how.signal)
    current.catch(() => undefined)
    let at = height.known() ?? (await current)
    for (let attempt = 0; ; progress.retries++) {
      const opened = open(at, how)
      progress.awaited = `the data of height ${at.end.height} was read`
      const { value, failure } = await settle(work(opened.view))
      progress.awaited = HEIGHT_READ
      current = await current
      if (current.batch !== at.batch) {
        at = current
        continue
      }
      progress.awaited = 'the store was looked at'
      const isNotFound = failure instanceof Failure && failure.kind === 'not_found'
      const mayBeLost = !how.damaged && (opened.foundNothing || isNotFound)
      if (await isRight(options, { at, failure, mayBeLost, attempt, since })) return value as T
      await clock.sleep(getWaitMs(attempt++))
      progress.awaited = HEIGHT_READ
      current = at = await height.fresh(how.signal)
    }
  }
  const read: ReadPort['read'] = async (work, { signal, damaged = false } = {}) => {
    const since = performance.now()
    const progress: Progress = { awaited: STORE_CHECKED, retries: 0 }
    let isReported = false
    const report = (error?: unknown): void => {
      if (!isReported) onCall?.({ call: 'read', since, error, retries: progress.retries })
      isReported = true
    }
    try {
      const aborted = () => createDeadlineFailure(progress.awaited)
      if (signal?.aborted) throw aborted()
      const how = { signal, damaged, onRelease: () => report() }
      // Work may wait for more than its own requests, so it is abandoned when the signal aborts.
      const value = await awaitLimited(readUntilRight(work, how, progress), { signal, aborted })
      report()
      return value
    } catch (error) {
      report(error)
      throw error
    }
  }
  const { expire, fresh, readUnrepaired } = height
  return { read, expire, fresh, readUnrepaired }
}

/** Whether the result of an attempt is right; otherwise the read may begin again. Throws if it must not. */
async function isRight(
  { readPublished, whole, clock, timeoutMs }: ReadsOptions,
  { at, failure, mayBeLost, attempt, since }: Attempt,
): Promise<boolean> {
  // A missing index may be one that a migration has replaced meanwhile.
  const isReplaced = isMissingIndex(failure) && (await readPublished(undefined))?.batch !== at.batch
  if (mayBeLost) await whole.requireNow()
  if (failure === undefined) return true
  const isNewer = isReplaced || failure instanceof NewerData
  const isOld = failure instanceof OutOfDateCopy
  const mayPass = isNewer || (isOld && attempt + 1 < COPIES_TRIED)
  if (mayPass && clock.elapsed() - since <= timeoutMs) return false
  // All copies were out of date: servers are cut off, unless the store turns out to have lost data.
  if (isOld) await whole.requireNow()
  throw isNewer ? createUnpublished(at) : failure
}

async function settle<T>(work: Promise<T>): Promise<{ readonly value?: T; readonly failure?: unknown }> {
  try {
    return { value: await work }
  } catch (failure) {
    return { failure }
  }
}

type ViewsOptions = Pick<Cluster, 'connection' | 'names' | 'onCacheRead'> &
  Pick<ReadPort, 'hold'> & { readonly clock: Pick<Cluster['clock'], 'elapsed'> }

/**
 * Opens views of published heights. Views of a height share a cache of its state: the documents do not change
 * until the next height is published, and each was checked when it was read. A view keeps the cache with
 * which it was opened; a view of another height gets a new one.
 */
export function createViews({ connection, names, clock, onCacheRead, hold }: ViewsOptions) {
  const hints: Hints = new Map()
  const copies: CopiesByIndex = new Map()
  /** What all views of a published height share. */
  let height:
    | { readonly of: PublishedMeta; readonly since: number; readonly names: Names; readonly cache: StateCache }
    | undefined
  const open: ReadsOptions['open'] = (published, { signal, damaged, onRelease: release = () => undefined }) => {
    const now = clock.elapsed()
    // Only a repair changes documents of a published batch; its changes are visible after this time at the latest.
    if (height?.of !== published || now - height.since >= 1_000)
      // This many characters take at most 20 MB of memory.
      height = { of: published, since: now, names: names.at(published.generations), cache: boundedCache(8_000_000) }
    const { cache } = height
    const opened = { foundNothing: false }
    const view = openView(
      {
        connection,
        names: height.names,
        published,
        hints,
        copies,
        signal,
        pendingReads: [],
        // A view of damaged data does not report whether its reads are of its height, so nothing of it is kept.
        last: damaged ? {} : getLastDocuments(published),
        cache: damaged ? undefined : cache,
        onCacheRead,
        onNothing: () => {
          opened.foundNothing = true
        },
      },
      {
        hold: state => hold({ state, signal }),
        release,
        ...(damaged ? {} : { edition: cache }),
      },
    )
    return Object.assign(opened, { view })
  }
  return {
    open,
    /** Later views share no cache with earlier ones. */
    forget: (): void => {
      height = undefined
    },
  }
}

export type ElasticReading = ReturnType<typeof openReading>

/**
 * Reads of one store: the published height, answers at one height, and refusals while data is lost. `ofAnyVersion`: also
 * indices of another version, for a migration.
 */
export function openReading(cluster: Cluster, { ofAnyVersion = false } = {}) {
  const { clock, onCall } = cluster
  /** Time that a read without its own deadline is retried. */
  const timeoutMs = 10_000
  const store = `${cluster.connection.url}/${cluster.names.prefix}`
  const published = async (signal?: AbortSignal): Promise<PublishedMeta | undefined> => {
    const found = await readPublished(cluster, signal)
    // Documents of a program of another edition, such as the migration of a newer one, may mean something else.
    if (!ofAnyVersion && found !== undefined && found.edition !== EDITION)
      throw otherVersion(store, `indices of edition ${found.edition}, but this process reads ${EDITION}`)
    return found
  }
  const { open, forget } = createViews({ ...cluster, hold: options => hold(options) })
  const whole = watchWholeness({ check: () => checkLost(cluster, published), elapsed: clock.elapsed })
  const options = { readPublished: published, open, whole, clock, store, timeoutMs, onCall }
  const { read, expire, fresh, readUnrepaired } = createReads(options)
  const requireWhole = async (signal?: AbortSignal): Promise<void> => {
    await awaitUnlessAborted(whole.require() ?? Promise.resolve(), signal, STORE_CHECKED)
  }
  const hold = async (options: HoldOptions): Promise<HeldView> => {
    const { signal } = options
    await requireWhole(signal)
    const viewOf = (at: PublishedMeta) => open(at, { signal }).view
    return holdView(cluster, { ...options, timeoutMs, published: () => fresh(signal), viewOf })
  }
  const report = createReports(onCall)
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
