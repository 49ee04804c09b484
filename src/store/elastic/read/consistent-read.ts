import { Failure } from '#failure/failure.ts'
import type { View } from '#store/port.ts'
import { within } from '#time/deadline.ts'
import { type PublishedMeta, stampOf } from '../schema/checkpoint.ts'

/**
 * Thrown inside a view when something newer than its height could be seen: a loader has refreshed the state and is
 * about to publish it. The session begins again.
 */
export class Newer extends Error {}

export type Sessions = {
  readonly readPublished: (signal: AbortSignal | undefined) => Promise<PublishedMeta | undefined>
  readonly viewOf: (published: PublishedMeta, signal: AbortSignal | undefined) => View
  readonly sleep: (ms: number) => Promise<void>
  readonly now: () => number
  /** How long to try without a signal. */
  readonly patienceMs: number
  readonly nothing: () => Failure
  /** Throws when nobody may read what is published. */
  readonly require?: (published: PublishedMeta) => void
}

/** Waits between tries, milliseconds; from a refresh to its publication it is a few. */
const WAITS_MS = [2, 4, 8, 16, 32, 50]
const waitMs = (attempt: number): number => WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)] ?? 0
/** Looks, a second of waiting in all, after which a height below the last one is believed. */
const LAG_TRIES = 24
/**
 * A look at the published height serves whoever comes within so many milliseconds of its sending: a busy service looks
 * a hundred times a second and not once for each request.
 */
export const LOOK_SERVES_MS = 10

type Look = {
  readonly at: number
  /** false: it failed, or whoever looked has given up. */
  readonly done: Promise<boolean>
}

/**
 * Runs work on views of one height. State documents carry the height they were written at, and every read of a view
 * refuses what is newer, so whatever ends without `Newer` is true at the view's height, however long it took, and
 * however long that height was known before.
 *
 * The height known from the last call saves a round trip: work begins with it while the published one is asked for,
 * and counts only if that is the same. What was published `LOOK_SERVES_MS` before a call is seen by it for sure.
 */
export const openSessions = (sessions: Sessions) => {
  let known: PublishedMeta | undefined
  let look: Look | undefined
  /**
   * The published height. Copies of the index that holds it get it one after the other, so one may still say the height
   * before: nobody here has ever gone back. A store that lastingly says less was made anew.
   */
  const fresh = async (signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    const least = known === undefined ? -1 : stampOf(known)
    let read = await sessions.readPublished(signal)
    for (
      let attempt = 0;
      attempt < LAG_TRIES && (read === undefined ? -1 : stampOf(read)) < least;
      attempt++
    ) {
      await sessions.sleep(waitMs(attempt))
      read = await sessions.readPublished(signal)
    }
    // Asked later, answered sooner: what others have learned meanwhile counts too.
    if (read !== undefined && known !== undefined && stampOf(known) > least && stampOf(read) < stampOf(known))
      return known
    // The very same value for the same batch: what is kept along with it stays.
    if (read === undefined || read.batch !== known?.batch) known = read
    if (known === undefined) throw sessions.nothing()
    sessions.require?.(known)
    return known
  }
  /** As `fresh`, or as somebody saw it just now. */
  const current = async (signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    const at = sessions.now()
    if (look !== undefined && Math.abs(at - look.at) < LOOK_SERVES_MS) {
      // Known by now may be more than that look has seen, never less.
      if ((await look.done) && known !== undefined) return known
      return fresh(signal)
    }
    const looking = fresh(signal)
    look = {
      at,
      done: looking.then(
        () => true,
        () => false,
      ),
    }
    return looking
  }
  const guess = async <T>(work: (view: View) => Promise<T>, signal: AbortSignal | undefined) => {
    if (known === undefined) return { at: await untilAborted(signal, current(signal)) }
    const at = known
    const [done, now] = await Promise.allSettled([
      run(work, sessions.viewOf(at, signal), signal),
      untilAborted(signal, current(signal)),
    ])
    if (now.status === 'rejected') throw now.reason
    return now.value.batch === at.batch ? { at: now.value, done } : { at: now.value }
  }
  const read = async <T>(work: (view: View) => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const since = sessions.now()
    let { at, done }: { at: PublishedMeta; done?: PromiseSettledResult<T> } = await guess(work, signal)
    for (let attempt = 0; ; attempt++) {
      if (done === undefined)
        [done] = await Promise.allSettled([run(work, sessions.viewOf(at, signal), signal)])
      if (done?.status === 'fulfilled') return done.value
      if (!(done?.reason instanceof Newer)) throw done?.reason
      if (signal?.aborted)
        throw new Failure('deadline', `The deadline passed while height ${at.end.height} was being replaced.`)
      if (sessions.now() - since > sessions.patienceMs)
        throw new Failure(
          'unavailable',
          `The batch after height ${at.end.height} is stored but not published.`,
          {
            help: 'The loader was killed while publishing; start it again. If a loader is running, another program changed a document; run iostlens verify.',
          },
        )
      await sessions.sleep(waitMs(attempt))
      at = await fresh(signal)
      done = undefined
    }
  }
  return {
    read,
    /** Something was published: the next call looks for itself. */
    lookAgain: (): void => {
      look = undefined
    },
  }
}

/** Work that does not look at the signal ends with it all the same. */
const run = <T>(work: (view: View) => Promise<T>, view: View, signal: AbortSignal | undefined): Promise<T> =>
  signal?.aborted
    ? Promise.reject(passed(`the data of height ${view.at.height} was read`))
    : untilAborted(signal, work(view), `the data of height ${view.at.height} was read`)

/** The promise, or a 'deadline' as soon as the signal aborts. */
export const untilAborted = <T>(
  signal: AbortSignal | undefined,
  promise: Promise<T>,
  what = 'the published height was read',
): Promise<T> => within(promise, { signal, aborted: () => passed(what) })

const passed = (what: string): Failure => new Failure('deadline', `The deadline passed before ${what}.`)
