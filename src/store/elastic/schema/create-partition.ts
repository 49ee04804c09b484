import { type HistoryIndex, historyIndices } from '#indices/registry.ts'
import { requestJson } from '../client/request-json.ts'
import { differentIndex, refuseDifferent, withHelp } from './check-indices.ts'
import type { Cluster, ReadCluster } from './cluster.ts'
import { createIndex } from './create-indices.ts'
import { type StoredMapping, shapeOf } from './mappings.ts'
import type { Names } from './names.ts'

/**
 * Creates the indices of a new partition, or continues with those of a dead loader. The indices stay hidden
 * from readers, because a search over all partitions fails while one of them has no active copy.
 */
export const createPartition = async (cluster: Cluster, partition: number): Promise<void> => {
  const { connection, names } = cluster
  const wanted = historyIndices.map(index => ({
    name: names.partition(index, partition),
    shape: shapeOf(index),
    aliases: [names.intoPartition(index, partition)],
  }))
  await Promise.all(wanted.map(each => createIndex(cluster, each)))
  const found = await requestJson<Readonly<Record<string, { readonly mappings: StoredMapping }>>>(connection, {
    what: `read partition ${partition} of ${names.prefix}`,
    method: 'GET',
    path: `/${wanted.map(({ name }) => name).join(',')}/_mapping`,
  })
  const differences = wanted.flatMap(({ name, shape }) =>
    differentIndex({ name, index: name }, found[name]?.mappings ?? {}, shape.mappings),
  )
  refuseDifferent(connection, withHelp(cluster, differences, 'nothing'))
  await showUnder(cluster, partition, index => [names.intoPartition(index, partition)])
}

/** The readers' aliases of an index, which cover all its partitions. */
const aliasesOf = (names: Names, { name }: HistoryIndex): readonly string[] =>
  names.building ? [names.own(name)] : [...new Set([names.own(name), names.served(name)])]

/** Adds a partition to the readers' aliases, after its indices were written and refreshed. */
export const showPartition = async (cluster: ReadCluster, partition: number): Promise<void> => {
  const { names } = cluster
  await showUnder(cluster, partition, index => aliasesOf(names, index))
}

/** Adds the indices of a partition to aliases; idempotent. */
const showUnder = async (
  cluster: ReadCluster,
  partition: number,
  aliases: (index: HistoryIndex) => readonly string[],
): Promise<void> => {
  const { connection, names } = cluster
  const actions = historyIndices.flatMap(index =>
    aliases(index).map(alias => ({ add: { index: names.partition(index, partition), alias } })),
  )
  await requestJson(connection, {
    what: `show partition ${partition} of ${names.prefix}`,
    method: 'POST',
    path: '/_aliases',
    body: JSON.stringify({ actions }),
  })
}
