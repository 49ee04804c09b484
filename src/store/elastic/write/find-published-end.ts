import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { historyIndices } from '#indices/registry.ts'
import type { Filling, Published } from '#store/port.ts'
import type { Connection } from '../client/connection.ts'
import { getMany } from '../client/get-many.ts'
import { requestJson, searchOf } from '../client/request-json.ts'
import type { Inventory, PublishedMeta } from '../schema/checkpoint-record.ts'
import { stampOf } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { damageOf } from '../schema/damage.ts'
import { decode } from '../schema/documents.ts'
import { countedNames } from '../schema/inventory.ts'
import type { Existing } from '../schema/list-indices.ts'
import { EDITION, HEIGHT } from '../schema/mappings.ts'
import type { Names } from '../schema/names.ts'
import { type Partitions, partitionAt } from '../schema/partitions.ts'
import { isNewerThan, showState } from './newest-stamp.ts'
import { removeHistoryAbove } from './remove-leftovers.ts'
import { takeInventory } from './take-inventory.ts'

/** The members of a checkpoint that describe the end of a store. */
export type KnownEnd = {
  readonly end: Published
  readonly batch: string
  readonly epoch: number | undefined
  readonly filling: Filling
  readonly inventory: Inventory
}

/**
 * The published end, if the whole store agrees with it: the versions of its state, the number of documents in
 * each index, and its last block. undefined: the store does not agree, or that cannot be determined.
 */
export const findPublishedEnd = async (cluster: Cluster, published: PublishedMeta): Promise<KnownEnd | undefined> => {
  const { names } = cluster
  const { end, batch, partitions, epoch, inventory } = published
  if (inventory?.batch !== batch || published.mending || published.edition !== EDITION) return undefined
  if (blocksIn(names, partitions, inventory) !== end.height + 1) return undefined
  await showState(cluster)
  if (await isNewerThan(cluster, stampOf(published))) return undefined
  if (!(await isLastBlock(cluster, published))) return undefined
  // The next batch was under way.
  await removeHistoryAbove(cluster, { end, partitions })
  const counted = new Set(countedNames(names, partitions))
  const indices = Object.fromEntries(Object.entries(inventory.indices).filter(([name]) => counted.has(name)))
  const damages = await damageOf(cluster, {
    partitions,
    inventory: { batch, indices },
    aliases: false,
    mayHoldMore: () => false,
  })
  if (damages.length > 0 || Object.keys(indices).length < counted.size) return undefined
  const last = partitions.length - 1
  const documents = historyIndices.reduce((sum, index) => sum + (indices[names.partition(index, last)]?.[1] ?? 0), 0)
  const filling = { partition: last, documents }
  try {
    return {
      end,
      batch,
      epoch,
      filling,
      inventory: await takeInventory(cluster, { partitions, batch }),
    }
  } catch (error) {
    // An index that has no documents is gone; a repair creates it again.
    if (error instanceof Failure && error.kind === 'damaged') return undefined
    throw error
  }
}

const blocksIn = (names: Names, partitions: Partitions, { indices }: Inventory): number =>
  partitions.reduce((sum, _, at) => sum + (indices[names.partition(blocks, at)]?.[1] ?? 0), 0)

const isLastBlock = async ({ connection, names }: Cluster, published: PublishedMeta) => {
  const { end, partitions } = published
  const index = names.partition(blocks, partitionAt(partitions, end.height))
  const [got] = await getMany(connection, [{ index, id: blockId(end.height) }], { realtime: true })
  const block = got && decode(blocks, blockId(end.height), got.source)
  return block?.hash === end.hash && block.time === end.time
}

/** First heights of the partitions, from the published record and the stored blocks. */
export const findPartitions = async (
  { connection, names }: Cluster,
  existing: readonly Existing[],
  published: Partitions | undefined,
): Promise<Partitions> => {
  const there = new Set(existing.map(({ name }) => name))
  const partitions: number[] = [0]
  for (let partition = 1; ; partition++) {
    const all = historyIndices.map(index => names.partition(index, partition))
    const isKnown = published !== undefined && partition < published.length
    if (!isKnown && !all.some(name => there.has(name))) return partitions
    const first = published?.[partition] ?? (await firstHeight(connection, all))
    if (first === undefined) return partitions
    if (first <= (partitions.at(-1) ?? 0))
      throw new Failure('damaged', `Partition ${partition} of ${names.prefix} begins at block ${first}.`, {
        help: "Run 'iostlens load' with another --store, or restore a snapshot.",
      })
    partitions.push(first)
  }
}

const firstHeight = async (connection: Connection, indices: readonly string[]): Promise<number | undefined> => {
  const { aggregations } = await requestJson<{
    readonly aggregations?: { readonly first: { readonly value: number | null } }
  }>(
    connection,
    searchOf(
      String(indices),
      { size: 0, aggs: { first: { min: { field: HEIGHT } } } },
      { query: { ignore_unavailable: 'true' } },
    ),
  )
  return aggregations?.first.value ?? undefined
}
