import type { Connection } from '../client/connection.ts'
import { requestJson, searchOf } from '../client/request-json.ts'
import type { Counts } from './inventory.ts'
import { KIND } from './state-ids.ts'

/** More kinds of state than there will ever be. */
const MOST_KINDS = 1_000

type Answer = {
  readonly aggregations?: {
    readonly kinds: { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] }
  }
}

/** Number of documents of each kind that a search sees in an index of several kinds. */
export async function countKinds(connection: Connection, index: string): Promise<Counts> {
  const kinds = { terms: { field: KIND, size: MOST_KINDS } }
  const { aggregations } = await requestJson<Answer>(connection, searchOf(index, { size: 0, aggs: { kinds } }))
  return new Map(aggregations?.kinds.buckets.map(({ key, doc_count }) => [key, doc_count]))
}
