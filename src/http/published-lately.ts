import { Failure, type FailureKind } from '#failure/failure.ts'
import { AbsentStore } from '#store/absent-store.ts'
import type { Published } from '#store/port.ts'
import { requireServable, type ServedStore } from '#store/require-servable.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'

/** Minimum milliseconds between two reads of the store, since anyone may request the height. */
const KEPT_MS = 500
/** Time limit of a read: a slower store is too slow for any request. */
const STORE_MS = 1_000

/**
 * Reads the published block. A Failure 'unavailable': the store cannot be read; 'damaged': it has lost data; 'conflict':
 * it is of another version, or not a store; AbsentStore: there is none.
 */
export type PublishedLately = () => Promise<Published | undefined | Failure>

/** The published block, at most half a second old. */
export const publishedLately = (store: ServedStore, clock: Pick<Clock, 'elapsed'>): PublishedLately => {
  let kept: { readonly published: Promise<Published | undefined>; readonly until: number } | undefined
  return () => {
    if (kept === undefined || clock.elapsed() >= kept.until)
      kept = { published: requireServable(store), until: clock.elapsed() + KEPT_MS }
    return inTime(kept.published).catch(storeFailure)
  }
}

const inTime = <T>(value: Promise<T>): Promise<T> =>
  within(value, {
    ms: STORE_MS,
    late: () => new Failure('unavailable', `The store did not return its height within ${STORE_MS} ms.`),
  })

const OF_STORES: ReadonlySet<FailureKind> = new Set(['unavailable', 'damaged', 'conflict'])

const storeFailure = (error: unknown): Failure => {
  if (error instanceof AbsentStore || (error instanceof Failure && OF_STORES.has(error.kind))) return error
  throw error
}
