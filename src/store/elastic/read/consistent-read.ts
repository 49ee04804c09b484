import { Failure } from '#failure/failure.ts'
import type { View } from '#store/port.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { type HeightOptions, knownHeight, waitMs } from './known-height.ts'
import { COPIES_TRIED, OutOfDate } from './out-of-date.ts'
import { passed, untilAborted } from './until-aborted.ts'

/**
 * Thrown inside a view that could see something newer than its height: a loader has refreshed the state and is about to
 * publish it. The read begins again.
 */
export class Newer extends Error {}

/** Anything that reads at one height. */
type AtHeight = Pick<View, 'at'>

export type ReadOptions<V extends AtHeight> = HeightOptions & {
  readonly viewOf: (published: PublishedMeta, signal: AbortSignal | undefined) => V
  /** How long a read without a signal is tried. */
  readonly patienceMs: number
}

/**
 * Runs work on views of one height. State documents carry the height they were written at, and every read of a view
 * refuses newer ones; a copy that lacks what was written last is refused as well, and the read begins again, on another
 * copy by chance. So work that ends is true at the view's height, however long it took and however long that height was
 * known before.
 *
 * The height known from the last call saves a round trip: work begins with it while the published one is read, and
 * counts only if both are the same. A height that was published `LOOK_SERVES_MS` before a call is always seen by it.
 */
export const consistentReads = <V extends AtHeight>(options: ReadOptions<V>) => {
  const height = knownHeight(options)
  const runAt = <T>(work: (view: V) => Promise<T>, at: PublishedMeta, signal: AbortSignal | undefined) =>
    settled(run(work, options.viewOf(at, signal), signal))

  /** The first try; `done` is absent if it did not run, or ran at a height that is no longer the published one. */
  const guess = async <T>(work: (view: V) => Promise<T>, signal: AbortSignal | undefined) => {
    const known = height.known()
    if (known === undefined) return { at: await height.current(signal) }
    const [done, now] = await Promise.all([runAt(work, known, signal), settled(height.current(signal))])
    if (now.status === 'rejected') throw now.reason
    return now.value.batch === known.batch ? { at: now.value, done } : { at: now.value }
  }
  const read = async <T>(work: (view: V) => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const since = options.now()
    let { at, done }: { at: PublishedMeta; done?: PromiseSettledResult<T> } = await guess(work, signal)
    for (let attempt = 0; ; attempt++) {
      done ??= await runAt(work, at, signal)
      if (done.status === 'fulfilled') return done.value
      const { reason } = done
      if (!mayGoWell(reason, attempt)) throw reason
      if (signal?.aborted) throw endOf(reason, replaced(at))
      if (options.now() - since > options.patienceMs) throw endOf(reason, unpublished(at))
      await options.sleep(waitMs(attempt))
      at = await height.fresh(signal)
      done = undefined
    }
  }
  return { read, lookAgain: height.lookAgain, fresh: height.fresh }
}

/** Whether a read that ended so may go well when it begins again. */
const mayGoWell = (reason: unknown, attempt: number): boolean =>
  reason instanceof Newer || (reason instanceof OutOfDate && attempt + 1 < COPIES_TRIED)

/** Of a read that ends without an answer. */
const endOf = (reason: unknown, newer: Failure): unknown => (reason instanceof Newer ? newer : reason)

const replaced = ({ end }: PublishedMeta): Failure =>
  new Failure('deadline', `The deadline passed while height ${end.height} was being replaced.`)

export const unpublished = ({ end }: PublishedMeta): Failure =>
  new Failure('unavailable', `The batch after height ${end.height} is stored but not published.`, {
    help: 'The loader was killed while publishing; start it again. If a loader is running, another program changed a document; run iostlens verify.',
  })

const settled = async <T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> => {
  const [result] = await Promise.allSettled([promise])
  return result
}

/** Ends with the signal, even when the work itself ignores it. */
const run = <T, V extends AtHeight>(
  work: (view: V) => Promise<T>,
  view: V,
  signal: AbortSignal | undefined,
): Promise<T> => {
  const what = `the data of height ${view.at.height} was read`
  return signal?.aborted ? Promise.reject(passed(what)) : untilAborted(signal, work(view), what)
}
