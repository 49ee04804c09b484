import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'

/** Height that is loaded already, −1: nothing, or the store can not tell now; the load waits for it by itself. */
export const loadedHeight = async (store: Pick<Store, 'published'>): Promise<number> => {
  try {
    return (await store.published())?.height ?? -1
  } catch (error) {
    if (error instanceof Failure && error.retryable) return -1
    throw error
  }
}
