import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import { type Listing, type Parts, ROWS_AT_ONCE } from './list-rows.ts'

/**
 * One read of documents after the first `offset` of a list, in parts that fit in memory. `total`: the number of rows of
 * the list, or of the range wanted. Throws Failure when the store has fewer rows than the list counts.
 */
export async function readParts<D>(
  view: View,
  { docs: docsOf, parts = docs => ({ ahead: docs, later: [] }) }: Listing<D>,
  { offset, total }: { readonly offset: number; readonly total: number },
): Promise<Parts<D>> {
  const limit = Math.min(ROWS_AT_ONCE, total - offset)
  const docs = await docsOf(view, offset, limit)
  if (docs.length !== limit)
    throw missingData(`A list of ${total} rows has ${docs.length} of those from ${offset + 1} to ${offset + limit}.`)
  return parts(docs)
}
