import type { Listing } from './list-rows.ts'

/**
 * Rows of steps, given oldest first, as a list in the requested order. They are in memory, and the list
 * cannot be followed.
 */
export function stepListing<D>(rows: readonly object[], sort: 'asc' | 'desc', columns: readonly string[]): Listing<D> {
  const ordered: readonly unknown[] = sort === 'asc' ? rows : rows.toReversed()
  return {
    total: rows.length,
    columns,
    docs: async (_view, offset, limit) => ordered.slice(offset, offset + limit) as readonly D[],
    rows: async (_view, docs) => ({ rows: docs }),
  }
}
