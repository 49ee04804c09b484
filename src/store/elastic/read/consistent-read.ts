import { Failure } from '#failure/failure.ts'
import { otherVersion } from '#store/failures.ts'
import type { CallEnd, Store, View } from '#store/port.ts'
import type { wholeness } from '#store/wholeness.ts'
import { within } from '#time/deadline.ts'
import type { ElasticConnection } from '../client/request.ts'
import { isMissingIndex } from '../client/request.ts'
import { type PublishedMeta, toPublishedStamp, toStamp } from '../schema/checkpoint.ts'
import { EDITION } from '../schema/mappings.ts'

/** Attempts before a read fails with `OutOfDateCopy`. With two copies, 1 of 256 reads meets the one that is out of date each time. */
export const COPIES_TRIED = 8

/** A copy lacks the last write to its index, because its server was cut off. Another copy may answer. */
export class OutOfDateCopy extends Failure {
  constructor({ url }: Pick<ElasticConnection, 'url'>, index: string) {
    super('unavailable', `The copy of ${index} at ${url} that answered is out of date.`, {
      help: 'A server was cut off from its cluster and has not noticed yet. Retry; if this persists, check the network between the servers.',
      details: { index },
    })
  }
}

type HeightOptions = {
  readonly readPublished: (signal: AbortSignal | undefined) => Promise<PublishedMeta | undefined>
  readonly sleep: (ms: number) => Promise<void>
  /** `Clock.elapsed` */
  readonly elapsed: () => number
  readonly nothing: () => Failure
  readonly underRepair: () => Failure
}

/** Pause before the next attempt, milliseconds; publication follows a refresh within a few milliseconds. */
export function getWaitMs(attempt: number): number {
  return [2, 4, 8, 16, 32][attempt] ?? 50
}

/**
 * The published height is read once for all callers within this time, in milliseconds. A busy service reads
 * it a hundred times a second, not once per request.
 */
export const READ_SERVES_MS = 10

/** The published height as this process knows it: the last known height, and ways to read it again. */
function openHeight({ readPublished, sleep, elapsed, nothing, underRepair }: HeightOptions) {
  let known: PublishedMeta | undefined
  let shared: SharedRead | undefined
  let mayReadUnrepaired = false

  const fresh = async (signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    const least = toPublishedStamp(known)
    let read = await readPublished(signal)
    // Replicas lag: a read may return an older height, which is ignored. If it stays so for about a second, the store was
    // recreated.
    for (let attempt = 0; attempt < 24 && toPublishedStamp(read) < least; attempt++) {
      await sleep(getWaitMs(attempt))
      read = await readPublished(signal)
    }
    // A read that began later and ended sooner may have found a newer height meanwhile.
    const isPassed = read !== undefined && toPublishedStamp(known) > Math.max(least, toStamp(read))
    // An equal record keeps its object and thus its cache. A batch is published again with its inventory.
    if (!isPassed && (read === undefined || !Bun.deepEquals(read, known))) known = read
    if (known === undefined) throw nothing()
    return requireRepaired(known)
  }
  const requireRepaired = (published: PublishedMeta): PublishedMeta => {
    if (published.mending && !mayReadUnrepaired) throw underRepair()
    return published
  }
  /** Like `fresh`, or another caller's recent read; `known` may be newer than that read, never older. */
  const current = (signal: AbortSignal | undefined): PublishedMeta | Promise<PublishedMeta> => {
    const at = elapsed()
    if (shared !== undefined && at - shared.at < READ_SERVES_MS)
      return shared.isDone && known !== undefined && !known.mending ? known : afterThat(shared, signal)
    const own: SharedRead = { at, isDone: false, reading: fresh(signal) }
    own.reading.then(
      () => {
        own.isDone = true
      },
      () => undefined,
    )
    shared = own
    return own.reading
  }
  /** A read that failed, or whose caller gave up, is not used for other callers. */
  const afterThat = async (other: SharedRead, signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    await other.reading.catch(() => undefined)
    return other.isDone && known !== undefined ? requireRepaired(known) : fresh(signal)
  }
  return {
    known: () => known,
    fresh,
    current,
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

type SharedRead = { readonly at: number; isDone: boolean; readonly reading: Promise<PublishedMeta> }

/**
 * Reads the published height. Throws when a program of another edition has published it, such as the migration of a
 * newer one: its documents may mean something else.
 */
export function readOwnEdition(read: HeightOptions['readPublished'], store: string): typeof read {
  return async signal => {
    const found = await read(signal)
    if (found !== undefined && found.edition !== EDITION)
      throw otherVersion(store, `indices of edition ${found.edition}, but this process reads ${EDITION}`)
    return found
  }
}

/**
 * Thrown inside a view that could see data newer than its height: a loader is about to publish it, or a batch was abandoned
 * and is not yet written again. The read begins again.
 */
export class NewerData extends Error {}

/** A view of a height, and whether it missed a document that may have been lost. */
export type OpenedView = { readonly view: View; foundNothing: boolean }

export type OpenOptions = {
  readonly signal?: AbortSignal | undefined
  /** Reads the stored data even if it is damaged or out of date. */
  readonly damaged?: boolean
  /** Called when the work needs no more of the view. */
  readonly onRelease?: () => void
}

type ConsistentOptions = HeightOptions & {
  readonly open: (at: PublishedMeta, how: OpenOptions) => OpenedView
  readonly whole: Pick<ReturnType<typeof wholeness>, 'require' | 'requireNow'>
  /** Maximum time that a read without a signal is retried, milliseconds. */
  readonly timeoutMs: number
  readonly onCall?: ((end: CallEnd) => void) | undefined
}

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
export function openReads(options: ConsistentOptions) {
  const { open, whole, elapsed, onCall } = options
  const height = openHeight(options)
  const { failureOf, waitToRepeat } = createRepeats(options)
  /** The height that a read begins with, and the published height, which may still be loading. */
  const begin = async ({ signal, damaged }: OpenOptions) => {
    const what = 'the store was checked'
    if (signal?.aborted) throw createDeadlineFailure(what)
    const checking = damaged === true ? undefined : whole.require()
    if (checking !== undefined) await awaitUnlessAborted(checking, signal, what)
    const known = height.known()
    const current = height.current(signal)
    if (current instanceof Promise) current.catch(() => undefined)
    return { at: known ?? (await awaitHeight(current, signal)), current }
  }
  const read: Store['read'] = async (work, how = {}) => {
    const { signal, damaged = false } = how
    const since = elapsed()
    const begun = performance.now()
    let retries = 0
    let isReported = false
    const report = (error?: unknown): void => {
      if (!isReported) onCall?.({ call: 'read', since: begun, error, retries })
      isReported = true
    }
    try {
      let { at, current } = await begin(how)
      for (let attempt = 0; ; retries++) {
        const opened = open(at, { ...how, onRelease: report })
        const { value, failure } = await settleWork(work(opened.view), signal, at)
        current = await awaitHeight(current, signal)
        if (current.batch !== at.batch) {
          at = current
          continue
        }
        const tried = { at, attempt, since, signal, damaged, foundNothing: opened.foundNothing }
        const isWrong = failure !== undefined || tried.foundNothing
        const wrong = isWrong ? await failureOf(failure, tried) : undefined
        if (wrong === undefined) {
          report()
          return value as Awaited<ReturnType<typeof work>>
        }
        await waitToRepeat(wrong, tried)
        attempt += 1
        current = at = await awaitHeight(height.fresh(signal), signal)
      }
    } catch (error) {
      report(error)
      throw error
    }
  }
  const { expire, fresh, readUnrepaired } = height
  return { read, expire, fresh, readUnrepaired }
}

function createRepeats({ whole, elapsed, sleep, readPublished, timeoutMs }: ConsistentOptions) {
  return {
    /** The error of an attempt that failed or found nothing; undefined: its result is right. */
    failureOf: async (failure: unknown, tried: ReadAttempt): Promise<unknown> => {
      const { at, damaged, foundNothing, signal } = tried
      if (isMissingIndex(failure) && (await readPublished(undefined))?.batch !== at.batch) return new NewerData()
      const isNotFound = failure instanceof Failure && failure.kind === 'not_found'
      if (!damaged && (foundNothing || isNotFound)) await awaitUnlessAborted(whole.requireNow(), signal, STORE_SEEN)
      return failure
    },
    /** Resolves when a failed read may begin again; throws if the read must not be retried. */
    waitToRepeat: async (failure: unknown, tried: ReadAttempt): Promise<void> => {
      const { at, attempt, since, signal } = tried
      const isNewer = failure instanceof NewerData
      const isOld = failure instanceof OutOfDateCopy
      const isAborted = signal?.aborted === true
      const mayGoWell = isNewer || (isOld && attempt + 1 < COPIES_TRIED)
      if (mayGoWell && !isAborted && elapsed() - since <= timeoutMs) return sleep(getWaitMs(attempt))
      // All copies were out of date: servers are cut off, unless the store turns out to have lost data.
      if (isOld) await awaitUnlessAborted(whole.requireNow(), signal, STORE_SEEN)
      if (!isNewer) throw failure
      if (!isAborted) throw createUnpublished(at)
      throw new Failure('deadline', `The deadline passed while height ${at.end.height} was being replaced.`)
    },
  }
}

type ReadAttempt = {
  readonly at: PublishedMeta
  readonly attempt: number
  readonly since: number
  readonly signal: AbortSignal | undefined
  readonly damaged: boolean
  readonly foundNothing: boolean
}

const STORE_SEEN = 'the store was looked at'

/** The published height, which another caller may still be reading. */
function awaitHeight(
  published: PublishedMeta | Promise<PublishedMeta>,
  signal: AbortSignal | undefined,
): PublishedMeta | Promise<PublishedMeta> {
  return published instanceof Promise
    ? awaitUnlessAborted(published, signal, 'the published height was read')
    : published
}

/**
 * The outcome of work: its value if `failure` is undefined. Work may wait for more than its own requests, so
 * it is abandoned when the signal aborts.
 */
async function settleWork<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  { end }: PublishedMeta,
): Promise<{ readonly value?: T; readonly failure?: unknown }> {
  try {
    return { value: await awaitUnlessAborted(work, signal, `the data of height ${end.height} was read`) }
  } catch (failure) {
    return { failure }
  }
}

/** The promise, or a 'deadline' failure when the signal aborts; `what` completes "The deadline passed before". */
export function awaitUnlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
  return within(promise, { signal, aborted: () => createDeadlineFailure(what) })
}

export function createDeadlineFailure(what: string): Failure {
  return new Failure('deadline', `The deadline passed before ${what}.`)
}

export function createUnpublished({ end }: PublishedMeta): Failure {
  return new Failure('unavailable', `The batch after height ${end.height} is stored but not published.`, {
    help: "A loader was stopped in the middle of that batch. Start it again, or wait until it has stored the batch. If that does not help, another program changed a document; run 'iostlens verify'.",
  })
}
