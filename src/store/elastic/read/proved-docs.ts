import type { Ref } from '../client/bulk-item.ts'
import type { Connection } from '../client/connection.ts'
import { type Got, getMany } from '../client/get-many.ts'
import type { LastDocuments } from '../schema/inventory-record.ts'
import { OutOfDate } from './out-of-date.ts'

/** Where documents are read, and what a copy of each index must show. */
export type Proving = {
  readonly connection: Connection
  readonly last: LastDocuments
  readonly signal?: AbortSignal | undefined
}

/** Documents of one request, without those that prove. */
const AT_ONCE = 900

/**
 * Documents by id as search sees them, each from a copy that has all of its index: the last document of an index is
 * read before the others in the same request, which one copy carries out in order. Throws `OutOfDate` otherwise.
 */
export const provedDocs = async (
  { connection, last, signal }: Proving,
  refs: readonly Ref[],
): Promise<readonly (Got | undefined)[]> => {
  const found: (Got | undefined)[] = []
  for (let from = 0; from < refs.length; from += AT_ONCE) {
    const part = refs.slice(from, from + AT_ONCE)
    const proofs = [...new Set(part.map(({ index }) => index))].flatMap(index => {
      const [id, version] = last[index] ?? []
      return id === undefined ? [] : [{ index, id, version: version ?? 0 }]
    })
    const got = await getMany(connection, [...proofs, ...part], { realtime: false, signal })
    for (const [at, { index, version }] of proofs.entries())
      if ((got[at]?.version ?? -1) < version) throw new OutOfDate(connection, index)
    found.push(...got.slice(proofs.length))
  }
  return found
}
