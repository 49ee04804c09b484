import { Failure } from '#failure/failure.ts'
import { accounts } from '#indices/account.ts'
import { blocks } from '#indices/block.ts'
import { lists } from '#indices/list.ts'
import { records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { transactions } from '#indices/transaction.ts'
import { getMany } from '../client/get-many.ts'
import type { Checkpoint, Inventory } from '../schema/checkpoint-record.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { countKinds } from '../schema/count-kinds.ts'
import { decode } from '../schema/documents.ts'
import { countsInCopies, indexStates, newestDocuments } from '../schema/index-states.ts'
import { type Counts, countedNames, listedNames } from '../schema/inventory.ts'
import type { Names } from '../schema/names.ts'
import { toStateId } from '../schema/state-ids.ts'

/** The inventory of the indices at present. Throws 'damaged' if one is missing. */
export const takeInventory = async (
  cluster: ReadCluster,
  { partitions, batch }: Pick<Checkpoint, 'partitions' | 'batch'>,
): Promise<Inventory> => {
  const { connection, names } = cluster
  const listed = listedNames(names, partitions)
  const existing = await indexStates(connection, listed)
  const missing = listed.find(name => !existing.has(name))
  if (missing !== undefined)
    throw new Failure('damaged', `There is no index ${missing} at ${connection.url}.`, {
      help: "Run: 'iostlens repair --node URL'.",
    })
  const counted = countedNames(names, partitions)
  const counts = await countsInCopies(connection, counted)
  return {
    batch,
    last: await newestDocuments(connection, counted),
    indices: Object.fromEntries(
      [...existing].map(([name, { uuid }]) => {
        const documents = counts.get(name)
        return [name, documents === undefined ? [uuid] : [uuid, documents]]
      }),
    ),
  }
}

/**
 * The inventory of a store whose record was written anew, if the store has as many documents as were counted while loading.
 * Throws 'damaged' otherwise: a store that lost data must not count as complete.
 */
export const adoptInventory = async (cluster: ReadCluster, checkpoint: Checkpoint): Promise<Inventory> => {
  const { connection, names } = cluster
  const stock = await takeInventory(cluster, checkpoint)
  const [got] = await getMany(connection, [{ index: names.state(statistics), id: toStateId(statistics, STATISTICS) }], {
    realtime: false,
  })
  const counted = got === undefined ? undefined : decode(statistics, STATISTICS, got.source)
  const height = checkpoint.end?.height ?? -1
  const counts = new Map([
    ...Object.entries(stock.indices).map(([name, [, documents = 0]]) => [name, documents] as const),
    ...(await countKinds(connection, names.behind('state'))),
  ])
  for (const [index, wanted] of knownCounts(height, counted)) {
    const found = sumOf(counts, indicesOf(names, checkpoint, index))
    if (found !== wanted)
      throw new Failure(
        'damaged',
        `${index.name} of ${names.prefix} at ${connection.url} has ${found} documents, but ${wanted} were loaded.`,
        { help: "Run: 'iostlens repair'." },
      )
  }
  return stock
}

/** Expected number of documents of an index, if the statistics of the chain contain it. */
const knownCounts = (height: number, counted: StatisticsDoc | undefined): readonly (readonly [AnyIndex, number])[] => [
  [blocks, height + 1],
  [statistics, height < 0 ? 0 : 1],
  [transactions, counted?.transaction_count ?? 0],
  [records, counted?.record_count ?? 0],
  [accounts, counted?.account_count ?? 0],
  [tokens, counted?.token_count ?? 0],
  [lists, counted?.list_count ?? 0],
]

const sumOf = (counts: Counts, indices: readonly string[]): number =>
  indices.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0)

/** Names under which the documents of an index or kind are counted. */
const indicesOf = (names: Names, { partitions }: Checkpoint, index: AnyIndex): readonly string[] =>
  index.kind === 'state' ? [index.name] : partitions.map((_, partition) => names.partition(index, partition))
