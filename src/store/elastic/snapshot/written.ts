import { Failure } from '#failure/failure.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import type { WritePosition } from '#store/snapshots-port.ts'
import { refresh } from '../client/refresh.ts'
import { requestJson } from '../client/request-json.ts'
import { readPublished } from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/cluster.ts'
import { inParts } from '../schema/names.ts'

type Shard = {
  readonly routing: { readonly primary: boolean }
  readonly docs: { readonly count: number }
  readonly seq_no: { readonly max_seq_no: number }
}
type Stats = {
  readonly indices?: Readonly<Record<string, { readonly shards: Readonly<Record<string, readonly Shard[]>> }>>
}

/** `Snapshots.writePositions`. Elasticsearch numbers a shard's operations; a restored shard continues the numbers. */
export const writtenIn = async (cluster: Cluster): Promise<readonly WritePosition[]> => {
  const places = await placesIn(cluster)
  const names = [...places.keys()]
  const stands = await standsOf(cluster, names)
  for (const part of inParts(names)) await refresh(cluster, part.split(','))
  return [...places].map(([name, place]) => {
    const stand = stands.get(name)
    if (stand === undefined) throw new Failure('unavailable', `Index ${name} has no primary shard at the moment.`)
    return { ...place, ...stand }
  })
}

type PlaceOf = Pick<WritePosition, 'index' | 'partition'>

/** All indices of documents, by name. */
const placesIn = async (cluster: Cluster): Promise<ReadonlyMap<string, PlaceOf>> => {
  const at = await readPublished(cluster)
  if (at === undefined) return new Map()
  const names = cluster.names.at(at.generations)
  return new Map<string, PlaceOf>([
    ...historyIndices.flatMap(index =>
      at.partitions.map((_, partition) => [names.partition(index, partition), placeOf(index, partition)] as const),
    ),
    ...stateIndices.map(index => [names.state(index), placeOf(index)] as const),
  ])
}

const placeOf = ({ name }: AnyIndex, partition?: number): PlaceOf => ({
  index: name,
  ...(partition === undefined ? {} : { partition }),
})

const standsOf = async (
  { connection }: Cluster,
  names: readonly string[],
): Promise<ReadonlyMap<string, Pick<WritePosition, 'operation' | 'documents'>>> => {
  const found = new Map<string, Pick<WritePosition, 'operation' | 'documents'>>()
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
