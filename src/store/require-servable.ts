import { absentStore, exists } from './absent-store.ts'
import type { Published, Store } from './port.ts'

export type ServedStore = Pick<Store, 'name' | 'published' | 'whole' | 'checkShape'>

/**
 * The published block; undefined: the store is empty. Throws when the store cannot be served from: it is out of reach,
 * of another version, known to have lost data, or absent.
 */
export async function requireServable(store: ServedStore, signal?: AbortSignal): Promise<Published | undefined> {
  await store.whole?.(signal)
  const published = await store.published()
  if (published === undefined && !(await exists(store))) throw absentStore(store.name)
  return published
}
