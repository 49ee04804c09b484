import { Failure } from '#failure/failure.ts'
import { type HistoryIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import type { WritePosition } from '#store/snapshots-port.ts'
import { refresh } from '../client/refresh.ts'
import { requestJson } from '../client/request-json.ts'
import { readPublished } from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/cluster.ts'
import { countKinds } from '../schema/count-kinds.ts'
import { inParts } from '../schema/names.ts'
import { stateIndexOf } from '../schema/state-ids.ts'

type Shard = {
  readonly routing: { readonly primary: boolean }
  readonly docs: { readonly count: number }
  readonly seq_no: { readonly max_seq_no: number }
}
type Stats = {
  readonly indices?: Readonly<Record<string, { readonly shards: Readonly<Record<string, readonly Shard[]>> }>>
}

/**
 * `Snapshots.writePositions`. Elasticsearch numbers a shard's operations; a restored shard continues the numbers. Kinds of
 * state that share an index have the same number, and each its own documents.
 */
export const writtenIn = async (cluster: Cluster): Promise<readonly WritePosition[]> => {
  const { connection } = cluster
  const at = await readPublished(cluster)
  if (at === undefined) return []
  const names = cluster.names.at(at.generations)
  const history = historyIndices.flatMap(index =>
    at.partitions.map((_, partition) => ({
      name: names.partition(index, partition),
      place: placeOf(index, partition),
    })),
  )
  const written = [...history.map(({ name }) => name), ...names.states]
  const stands = await standsOf(cluster, written)
  for (const part of inParts(written)) await refresh(cluster, part.split(','))
  const standOf = (name: string): Stand => {
    const stand = stands.get(name)
    if (stand === undefined) throw new Failure('unavailable', `Index ${name} has no primary shard at the moment.`)
    return stand
  }
  const kinds = await countKinds(connection, names.behind('state'))
  return [
    ...history.map(({ name, place }) => ({ ...place, ...standOf(name) })),
    ...stateIndices.map(index => {
      const { operation, documents } = standOf(names.state(index))
      const own = stateIndexOf(index) === 'state' ? (kinds.get(index.name) ?? 0) : documents
      return { index: index.name, operation, documents: own }
    }),
  ]
}

type Stand = Pick<WritePosition, 'operation' | 'documents'>

const placeOf = ({ name }: HistoryIndex, partition: number): Pick<WritePosition, 'index' | 'partition'> => ({
  index: name,
  partition,
})

const standsOf = async ({ connection }: Cluster, names: readonly string[]): Promise<ReadonlyMap<string, Stand>> => {
  const found = new Map<string, Stand>()
  for (const part of inParts(names)) {
    const { indices } = await requestJson<Stats>(connection, {
      what: `see how far ${part} was written`,
      method: 'GET',
      path: `/${part}/_stats/docs`,
      query: { level: 'shards', filter_path: '**.routing.primary,**.docs.count,**.seq_no.max_seq_no' },
    })
    for (const [name, { shards }] of Object.entries(indices ?? {})) {
      const primary = Object.values(shards)
        .flat()
        .find(({ routing }) => routing.primary)
      if (primary === undefined) continue
      found.set(name, { operation: primary.seq_no.max_seq_no, documents: primary.docs.count })
    }
  }
  return found
}
