import type { Store, View } from '#store/port.ts'

/** Releases the view. Resolves when it is released, and never if the read restarts. */
export type ReleaseView = () => Promise<void>

/**
 * Reads the store for work that may release its view early and continue without it, so that a wait for a node
 * holds no connection of the store. After `leave`, only the height of the view may be used.
 */
export async function readAndRelease<T>(
  store: Pick<Store, 'read'>,
  work: (view: View, leave: ReleaseView) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const read = await store.read(
    view => {
      const leaving = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      const done = work(view, () => {
        leaving.resolve()
        return left.promise
      })
      return Promise.race([
        done.then(value => ({ rest: async () => value })),
        leaving.promise.then(() => ({
          rest: () => {
            left.resolve()
            return done
          },
        })),
      ])
    },
    { signal },
  )
  return read.rest()
}
