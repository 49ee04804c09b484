import { Failure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'

/** Minimum milliseconds between two reads of the store, since anyone may request the height. */
const KEPT_MS = 500
/** Time limit of a read: a slower store is too slow for any request. */
const STORE_MS = 1_000

/** Reads the published block. A Failure 'unavailable': the store cannot be read; 'damaged': it has lost data. */
export type PublishedLately = () => Promise<Published | undefined | Failure>

/** The published block, at most half a second old. */
export const publishedLately = (
  store: Pick<Store, 'published' | 'whole'>,
  clock: Pick<Clock, 'elapsed'>,
): PublishedLately => {
  let kept: { readonly published: Promise<Published | undefined>; readonly until: number } | undefined
  return () => {
    if (kept === undefined || clock.elapsed() >= kept.until)
      kept = { published: publishedWhole(store), until: clock.elapsed() + KEPT_MS }
    return inTime(kept.published).catch(storeFailure)
  }
}

const publishedWhole = async (store: Pick<Store, 'published' | 'whole'>): Promise<Published | undefined> => {
  await store.whole?.()
  return store.published()
}

const inTime = <T>(value: Promise<T>): Promise<T> =>
  within(value, {
    ms: STORE_MS,
    late: () => new Failure('unavailable', `The store did not return its height within ${STORE_MS} ms.`),
  })

const storeFailure = (error: unknown): Failure => {
  if (error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'damaged')) return error
  throw error
}
