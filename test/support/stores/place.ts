import type { Store } from '#store/port.ts'
import { type Dump, dumpElastic, dumpSqlite } from './dump.ts'
import { openTestElastic } from './elasticsearch.ts'
import { temporarySqlite } from './loading.ts'

/** An empty store that other processes can load into. */
export type Place = {
  readonly store: Store
  /** Command-line arguments with which another process opens the same store. */
  readonly args: readonly string[]
  dump(): Promise<Dump>
  destroy(): Promise<void>
}

export async function sqlitePlace(): Promise<Place> {
  const { store, path, destroy } = await temporarySqlite()
  return { store, args: ['sqlite', path], dump: async () => dumpSqlite(path), destroy }
}

/** `partition`: documents per history partition. */
export async function elasticPlace(partition: number): Promise<Place> {
  const { store, url, prefix, destroy } = openTestElastic({ partitionDocuments: partition })
  const refresh = () => fetch(`${url}/${prefix}-*/_refresh`, { method: 'POST' })
  return {
    store,
    args: ['elastic', url, prefix, String(partition)],
    dump: async () => {
      await refresh()
      return dumpElastic(url, prefix)
    },
    destroy,
  }
}
