import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { type ForkStand, forkStand } from './stand.ts'

/** The stores on which is tested what is told of the head, by name. */
export const STORES = [
  ['SQLite', async () => temporarySqlite()],
  ...(elasticsearchUrl() === undefined ? [] : [['Elasticsearch', async () => openTestElastic()] as const]),
] as const

/** Works with a stand over a store of its own, which is gone then. */
export const withStand = async <T>(
  open: (typeof STORES)[number][1],
  seed: number,
  work: (stand: ForkStand) => Promise<T>,
): Promise<T> => {
  const { store, destroy } = await open()
  const stand = await forkStand(seed, store)
  try {
    return await work(stand)
  } finally {
    stand.stop()
    await destroy()
  }
}
