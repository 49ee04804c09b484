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
  readonly patienceMs: number
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
  const read: Store['read'] = async (work, { signal, damaged = false } = {}) => {
    const until = new UntilAborted(signal)
    const requireNow = () => until.wait(whole.requireNow(), 'the store was looked at')
    const since = now()
    try {
      if (!damaged) await until.wait(whole.require(), 'the store was checked')
      const known = height.known()
      let at = known ?? (await until.wait(height.current(signal), HEIGHT_READ))
      let current = known === undefined ? undefined : height.current(signal)
      current?.catch(() => undefined)
      for (let attempt = 0; ; ) {
        const opened = open(at, { signal, damaged })
        const done = await settled(
          until.wait(work(opened.view), `the data of height ${at.end.height} was read`),
        )
        const published = current === undefined ? at : await until.wait(current, HEIGHT_READ)
        current = undefined
        if (published.batch !== at.batch) {
          at = published
          continue
        }
        let { failure } = done
        if (isMissingIndex(failure) && (await readPublished(signal))?.batch !== at.batch)
          failure = new Newer()
        else if (!damaged && (opened.foundNothing || isNotFound(failure))) await requireNow()
        if (failure === undefined) return done.value as Awaited<ReturnType<typeof work>>
        if (!mayGoWell(failure, attempt)) throw failure
        if (signal?.aborted) throw endOf(failure, replaced(at))
        if (now() - since > options.patienceMs) throw endOf(failure, unpublished(at))
        await sleep(waitMs(attempt++))
        at = await until.wait(height.fresh(signal), HEIGHT_READ)
      }
    } catch (error) {
      // No copy was whole: servers are cut off, unless the store turns out to have lost data.
      if (error instanceof OutOfDate) await requireNow()
      throw error
    } finally {
      until.end()
    }
  }
  return { read, lookAgain: height.lookAgain, fresh: height.fresh }
}

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

/** Whether a read that ended so may go well when it begins again. */
const mayGoWell = (failure: unknown, attempt: number): boolean =>
  failure instanceof Newer || (failure instanceof OutOfDate && attempt + 1 < COPIES_TRIED)

/** Of a read that ends without an answer. */
const endOf = (failure: unknown, newer: Failure): unknown => (failure instanceof Newer ? newer : failure)

const replaced = ({ end }: PublishedMeta): Failure =>
  new Failure('deadline', `The deadline passed while height ${end.height} was being replaced.`)

export const unpublished = ({ end }: PublishedMeta): Failure =>
  new Failure('unavailable', `The batch after height ${end.height} is stored but not published.`, {
    help: 'The loader was killed while publishing; start it again. If a loader is running, another program changed a document; run iostlens verify.',
  })
