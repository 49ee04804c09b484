import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'

/** The loaded height; −1: none, or the store is out of reach, in which case the load itself waits for it. */
export const loadedHeight = async (store: Pick<Store, 'published'>): Promise<number> => {
  try {
    return (await store.published())?.height ?? -1
  } catch (error) {
    if (error instanceof Failure && error.retryable) return -1
    throw error
  }
}
