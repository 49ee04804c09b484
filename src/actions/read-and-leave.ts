import type { Store, View } from '#store/port.ts'

/** Gives the view back; resolves when it is given back, and never where the read begins again. */
export type Leave = () => Promise<void>

/**
 * Reads the store for work that may give its view back in its midst and goes on without it, so that a wait for a node
 * holds no connection of the store. What follows `leave` must not use the view but for its height.
 */
export const readAndLeave = async <T>(
  store: Pick<Store, 'read'>,
  work: (view: View, leave: Leave) => Promise<T>,
  signal: AbortSignal,
): Promise<T> => {
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
