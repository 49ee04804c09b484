import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { type ForkStand, forkStand } from './stand.ts'

/** The stores by name on which the tests of the head run. */
export const STORES = [
  ['SQLite', async () => temporarySqlite()],
  ...(elasticsearchUrl() === undefined ? [] : [['Elasticsearch', async () => openTestElastic()] as const]),
] as const

/** Runs `work` with a stand and its own store, and removes both. */
export async function withStand<T>(
  open: (typeof STORES)[number][1],
  seed: number,
  work: (stand: ForkStand) => Promise<T>,
): Promise<T> {
  const { store, destroy } = await open()
  const stand = await forkStand(seed, store)
  try {
    return await work(stand)
  } finally {
    stand.stop()
    await destroy()
  }
}
