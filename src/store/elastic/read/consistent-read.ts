import { Failure } from '#failure/failure.ts'
import type { ReadEnd, Store, View } from '#store/port.ts'
import type { wholeness } from '#store/wholeness.ts'
import { isMissingIndex } from '../client/failures.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { type HeightOptions, knownHeight, waitMs } from './known-height.ts'
import { COPIES_TRIED, OutOfDateCopy } from './out-of-date.ts'

/**
 * Thrown inside a view that could see data newer than its height: a loader has refreshed the state and is
 * about to publish it. The read begins again.
 */
export class NewerData extends Error {}

/** A view of a height, and whether it missed a document that may have been lost. */
export type OpenedView = { readonly view: View; foundNothing: boolean }

export type OpenOptions = {
  readonly signal?: AbortSignal | undefined
  /** Reads the stored data even if it is damaged or out of date. */
  readonly damaged?: boolean
}

export type ReadOptions = HeightOptions & {
  readonly open: (at: PublishedMeta, how: OpenOptions) => OpenedView
  readonly whole: Pick<ReturnType<typeof wholeness>, 'require' | 'requireNow'>
  /** Maximum time that a read without a signal is retried, milliseconds. */
  readonly timeoutMs: number
  /** Called when a read has ended. */
  readonly onRead?: ((end: ReadEnd) => void) | undefined
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
export const consistentReads = (options: ReadOptions) => {
  const { open, whole, now, onRead } = options
  const height = knownHeight(options)
  const { failureOf, waitToRepeat } = repeating(options)
  /** The height that a read begins with, and the published height, which may still be loading. */
  const begin = async ({ signal, damaged }: OpenOptions) => {
    const what = 'the store was checked'
    if (signal?.aborted) throw deadlinePassed(what)
    const checking = damaged === true ? undefined : whole.require()
    if (checking !== undefined) await untilAborted(checking, signal, what)
    const known = height.known()
    const current = height.current(signal)
    if (current instanceof Promise) current.catch(() => undefined)
    return { at: known ?? (await seen(current, signal)), current }
  }
  const read: Store['read'] = async (work, how = {}) => {
    const { signal, damaged = false } = how
    const since = now()
    const begun = performance.now()
    let retries = 0
    let error: unknown
    try {
      let { at, current } = await begin(how)
      for (let attempt = 0; ; retries++) {
        const opened = open(at, how)
        const { value, failure } = await settled(work(opened.view), signal, at)
        current = await seen(current, signal)
        if (current.batch !== at.batch) {
          at = current
          continue
        }
        const tried = { at, attempt, since, signal, damaged, foundNothing: opened.foundNothing }
        const isWrong = failure !== undefined || tried.foundNothing
        const wrong = isWrong ? await failureOf(failure, tried) : undefined
        if (wrong === undefined) return value as Awaited<ReturnType<typeof work>>
        await waitToRepeat(wrong, tried)
        attempt += 1
        current = at = await seen(height.fresh(signal), signal)
      }
    } catch (thrown) {
      error = thrown
      throw thrown
    } finally {
      onRead?.({ since: begun, error, retries })
    }
  }
  const { expire, fresh, readUnrepaired } = height
  return { read, expire, fresh, readUnrepaired }
}

/** Handles attempts that failed or found nothing. */
const repeating = ({ whole, now, sleep, readPublished, timeoutMs }: ReadOptions) => ({
  /** The error of an attempt that failed or found nothing; undefined: its result is right. */
  failureOf: async (failure: unknown, tried: Attempt): Promise<unknown> => {
    const { at, damaged, foundNothing, signal } = tried
    if (isMissingIndex(failure) && (await readPublished(undefined))?.batch !== at.batch) return new NewerData()
    if (!damaged && (foundNothing || isNotFound(failure))) await untilAborted(whole.requireNow(), signal, STORE_SEEN)
    return failure
  },
  /** Resolves when a failed read may begin again; throws if the read must not be retried. */
  waitToRepeat: async (failure: unknown, tried: Attempt): Promise<void> => {
    const { at, attempt, since, signal } = tried
    const isNewer = failure instanceof NewerData
    const isOld = failure instanceof OutOfDateCopy
    const isAborted = signal?.aborted === true
    const mayGoWell = isNewer || (isOld && attempt + 1 < COPIES_TRIED)
    if (mayGoWell && !isAborted && now() - since <= timeoutMs) return sleep(waitMs(attempt))
    // All copies were out of date: servers are cut off, unless the store turns out to have lost data.
    if (isOld) await untilAborted(whole.requireNow(), signal, STORE_SEEN)
    if (!isNewer) throw failure
    throw isAborted ? replaced(at) : unpublished(at)
  },
})

/** One attempt of a read. */
type Attempt = {
  readonly at: PublishedMeta
  readonly attempt: number
  readonly since: number
  readonly signal: AbortSignal | undefined
  readonly damaged: boolean
  readonly foundNothing: boolean
}

const STORE_SEEN = 'the store was looked at'
const HEIGHT_READ = 'the published height was read'

/** The published height, which another caller may still be reading. */
const seen = (
  published: PublishedMeta | Promise<PublishedMeta>,
  signal: AbortSignal | undefined,
): PublishedMeta | Promise<PublishedMeta> =>
  published instanceof Promise ? untilAborted(published, signal, HEIGHT_READ) : published

/**
 * The outcome of work: its value if `failure` is undefined. Work may wait for more than its own requests, so
 * it is abandoned when the signal aborts.
 */
const settled = async <T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  { end }: PublishedMeta,
): Promise<{ readonly value?: T; readonly failure?: unknown }> => {
  try {
    return { value: await untilAborted(work, signal, `the data of height ${end.height} was read`) }
  } catch (failure) {
    return { failure }
  }
}

/** The promise, or a 'deadline' failure when the signal aborts; `what` completes "The deadline passed before". */
export const untilAborted = async <T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  what: string,
): Promise<T> => {
  if (signal === undefined) return promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(deadlinePassed(what))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export const deadlinePassed = (what: string): Failure => new Failure('deadline', `The deadline passed before ${what}.`)

const isNotFound = (failure: unknown): boolean => failure instanceof Failure && failure.kind === 'not_found'

const replaced = ({ end }: PublishedMeta): Failure =>
  new Failure('deadline', `The deadline passed while height ${end.height} was being replaced.`)

export const unpublished = ({ end }: PublishedMeta): Failure =>
  new Failure('unavailable', `The batch after height ${end.height} is stored but not published.`, {
    help: "The loader was killed while publishing; start it again. If a loader is running, another program changed a document; run 'iostlens verify'.",
  })
