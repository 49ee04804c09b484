import { Failure } from '#failure/failure.ts'
import type { Connection } from '../client/connection.ts'
import { requestJson } from '../client/request-json.ts'
import { inParts } from './names.ts'

type Shard = {
  readonly index?: string
  readonly node?: string | null
  readonly state?: string
}
type Answer = { readonly shards?: readonly (readonly Shard[])[] }

/** Time after which a server that has lost its master reports this. */
const MASTER_TIMEOUT = '1s'

/**
 * The servers with a copy of each index (of one shard) that the elected master has in use. The master removes
 * a copy that missed a write before that write is acknowledged. Throws 'unavailable' without a master, or
 * when an index has no copy in use.
 */
export const shardCopies = async (
  connection: Connection,
  indices: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const found = new Map<string, string[]>()
  for (const part of inParts(indices)) {
    const { shards = [] } = await requestJson<Answer>(connection, {
      what: `see the copies of ${part}`,
      method: 'GET',
      path: `/${part}/_search_shards`,
      query: { master_timeout: MASTER_TIMEOUT, filter_path: 'shards.index,shards.node,shards.state' },
      signal,
    })
    for (const { index = '', node, state } of shards.flat()) {
      const inUse = state === 'STARTED' || state === 'RELOCATING'
      if (inUse && typeof node === 'string') found.set(index, [...(found.get(index) ?? []), node])
    }
  }
  for (const index of indices)
    if (!found.has(index))
      throw new Failure('unavailable', `No copy of ${index} at ${connection.url} is in use.`, {
        help: 'Check the health of the cluster.',
      })
  return found
}
