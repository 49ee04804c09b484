import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { stateIndices } from '#indices/registry.ts'
import { absentStore } from './failures.ts'
import type { Published, Store, StoreDifference } from './port.ts'

/**
 * Stores are created whole, so a store without keys and without any state was never created. Elasticsearch keeps all kinds
 * of state but series in one place named `state`.
 */
export function isAbsent(differences: readonly StoreDifference[]): boolean {
  const missing = new Set(differences.filter(({ problem }) => problem === 'missing').map(({ name }) => name))
  const state = missing.has('state') ? ['series'] : stateIndices.map(({ name }) => name)
  return ['keys', ...state].every(name => missing.has(name))
}

/** Whether a store exists at this address. */
export const storeExists = async (store: Pick<Store, 'checkShape'>): Promise<boolean> =>
  !isAbsent(await store.checkShape())

export type ServedStore = Pick<Store, 'name' | 'published' | 'whole' | 'checkShape'>

/**
 * The published block; undefined: the store is empty. Throws when the store cannot be served from: it is out of reach,
 * of another version, known to have lost data, or absent.
 */
export async function requireServable(store: ServedStore, signal?: AbortSignal): Promise<Published | undefined> {
  await store.whole?.(signal)
  const published = await store.published()
  if (published === undefined && !(await storeExists(store))) throw absentStore(store.name)
  return published
}

/** The blocks of a store, to compare nodes with (`node/pool.ts`). `hashAt`: undefined for a missing block. */
export const createHashSource = (store: Pick<Store, 'published' | 'read'>, signal?: AbortSignal) => ({
  last: (): Promise<Published | undefined> => store.published(),
  hashAt: (height: number): Promise<string | undefined> =>
    store.read(async view => (height > view.at.height ? undefined : (await view.get(blocks, blockId(height)))?.hash), {
      signal,
      damaged: true,
    }),
})
