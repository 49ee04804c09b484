import { Failure } from '#failure/failure.ts'
import type { Store, View } from '#store/port.ts'
import type { wholeness } from '#store/wholeness.ts'
import { isMissingIndex } from '../client/failures.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { type HeightOptions, knownHeight, waitMs } from './known-height.ts'
import { COPIES_TRIED, OutOfDate } from './out-of-date.ts'
import { UntilAborted } from './until-aborted.ts'

/**
 * Thrown inside a view that could see something newer than its height: a loader has refreshed the state and is about to
 * publish it. The read begins again.
 */
export class Newer extends Error {}

/** A view of a height, and whether it found nothing where a lost document may have been. */
export type Opened = { readonly view: View; foundNothing: boolean }

export type ReadOptions = HeightOptions & {
  readonly open: (at: PublishedMeta, how: OpenOptions) => Opened
  readonly whole: Pick<ReturnType<typeof wholeness>, 'require' | 'requireNow'>
  /** How long a read without a signal is tried. */
  readonly timeoutMs: number
}

export type OpenOptions = {
  readonly signal?: AbortSignal | undefined
  /** Reads what is there, as damaged or out of date as it may be. */
  readonly damaged?: boolean
}

/**
 * Runs work on views of one height. State documents carry the height they were written at, and every read of a view
 * refuses newer ones; a copy that lacks what was written last is refused as well, and the read begins again, on another
 * copy by chance. So work that ends is true at the view's height, however long it took and however long that height was
 * known before.
 *
 * The height known from the last call saves a round trip: work begins with it while the published one is read, and
 * counts only if both are the same. A height that was published `LOOK_SERVES_MS` before a call is always seen by it.
 *
 * What fails or finds nothing counts only if the store has lost no data.
 */
export const consistentReads = (options: ReadOptions) => {
  const { open, whole, now, sleep, readPublished } = options
  const height = knownHeight(options)
  /** Why an attempt failed, or found nothing; undefined: what it gave is right. */
  const failureOf = async (failure: unknown, tried: Attempt): Promise<unknown> => {
    const { at, damaged, foundNothing, until } = tried
    if (isMissingIndex(failure) && (await readPublished(undefined))?.batch !== at.batch) return new Newer()
    if (!damaged && (foundNothing || isNotFound(failure))) await until.wait(whole.requireNow(), STORE_SEEN)
    return failure
  }
  /** Throws where a read that failed will not go well when it begins again. */
  const requireHope = async (failure: unknown, tried: Attempt): Promise<void> => {
    const { at, attempt, since, signal, until } = tried
    const isNewer = failure instanceof Newer
    const isOld = failure instanceof OutOfDate
    const isAborted = signal?.aborted === true
    const mayGoWell = isNewer || (isOld && attempt + 1 < COPIES_TRIED)
    if (mayGoWell && !isAborted && now() - since <= options.timeoutMs) return
    // No copy was whole: servers are cut off, unless the store turns out to have lost data.
    if (isOld) await until.wait(whole.requireNow(), STORE_SEEN)
    if (!isNewer) throw failure
    throw isAborted ? replaced(at) : unpublished(at)
  }
  const begin = async (until: UntilAborted, { signal, damaged }: OpenOptions): Promise<Begun> => {
    if (damaged !== true) await until.wait(whole.require(), 'the store was checked')
    const known = height.known()
    const current = height.current(signal)
    current.catch(() => undefined)
    return known === undefined ? { at: await until.wait(current, HEIGHT_READ) } : { at: known, current }
  }
  const read: Store['read'] = async (work, how = {}) => {
    const { signal, damaged = false } = how
    const until = new UntilAborted(signal)
    const since = now()
    try {
      let { at, current } = await begin(until, how)
      for (let attempt = 0; ; ) {
        const opened = open(at, how)
        const what = `the data of height ${at.end.height} was read`
        const { value, failure } = await settled(until.wait(work(opened.view), what))
        const published = current === undefined ? at : await until.wait(current, HEIGHT_READ)
        current = undefined
        if (published.batch !== at.batch) {
          at = published
          continue
        }
        const { foundNothing } = opened
        const tried = { at, attempt, since, signal, until, damaged, foundNothing }
        const wrong = await failureOf(failure, tried)
        if (wrong === undefined) return value as Awaited<ReturnType<typeof work>>
        await requireHope(wrong, tried)
        await sleep(waitMs(attempt++))
        at = await until.wait(height.fresh(signal), HEIGHT_READ)
      }
    } finally {
      until.end()
    }
  }
  return { read, lookAgain: height.lookAgain, fresh: height.fresh }
}

/** The height that a read begins with, and the published one where that is another. */
type Begun = { readonly at: PublishedMeta; readonly current?: Promise<PublishedMeta> | undefined }

/** One try of a read. */
type Attempt = {
  readonly at: PublishedMeta
  readonly attempt: number
  readonly since: number
  readonly signal: AbortSignal | undefined
  readonly until: UntilAborted
  readonly damaged: boolean
  readonly foundNothing: boolean
}

const STORE_SEEN = 'the store was looked at'
const HEIGHT_READ = 'the published height was read'

/** What a promise gave; `failure` undefined: its value. */
const settled = async <T>(
  promise: Promise<T>,
): Promise<{ readonly value?: T; readonly failure?: unknown }> => {
  try {
    return { value: await promise }
  } catch (failure) {
    return { failure }
  }
}

const isNotFound = (failure: unknown): boolean => failure instanceof Failure && failure.kind === 'not_found'

const replaced = ({ end }: PublishedMeta): Failure =>
  new Failure('deadline', `The deadline passed while height ${end.height} was being replaced.`)

export const unpublished = ({ end }: PublishedMeta): Failure =>
  new Failure('unavailable', `The batch after height ${end.height} is stored but not published.`, {
    help: 'The loader was killed while publishing; start it again. If a loader is running, another program changed a document; run iostlens verify.',
  })
