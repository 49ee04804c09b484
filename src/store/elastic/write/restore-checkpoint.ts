import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/position.ts'
import { historyIndices } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import { rebuildIdentity } from '#store/identity.ts'
import type { RestoreOutcome } from '#store/maintain-port.ts'
import type { Identity } from '#store/port.ts'
import { getMany } from '../client/read-documents.ts'
import type { ElasticConnection } from '../client/request.ts'
import { requestHits, requestJson, toSearch } from '../client/request.ts'
import { refresh } from '../client/sender.ts'
import {
  type Checkpoint,
  findCheckpoint,
  getInventory,
  getLastStamp,
  MAX_EPOCH,
  type PublishedMeta,
  toStamp,
  tryReadPublished,
} from '../schema/checkpoint.ts'
import { awaitStarted, createIndex, findFirstDocument } from '../schema/create-indices.ts'
import { decodeDoc } from '../schema/documents.ts'
import { type ExistingIndex, listIndices, updateAliases } from '../schema/index-states.ts'
import { findDamage } from '../schema/inventory.ts'
import { AT, EDITION, HEIGHT, metaShape, SCHEMA } from '../schema/mappings.ts'
import {
  type Cluster,
  type Generations,
  type Names,
  type PartitionStarts,
  type ReadCluster,
  selectGenerations,
} from '../schema/names.ts'
import { toPublishedContent } from './finish-batch.ts'
import { compareAndSet } from './lease.ts'
import { removeUnannounced } from './rewrite-documents.ts'

/** Makes all state visible to the searches below: a loader that died while writing had not refreshed it. */
export function refreshState(cluster: Cluster): Promise<void> {
  return refresh(cluster, cluster.names.states, { ignore_unavailable: 'true' })
}

/** Whether any visible state document has a stamp between two stamps. */
async function isNewerThan(cluster: ReadCluster, stamp: number, below = Number.MAX_SAFE_INTEGER): Promise<boolean> {
  const { connection, names } = cluster
  const list = names.states.join(',')
  const query = { bool: { filter: [{ range: { [AT]: { gt: stamp, lt: below } } }] } }
  const mayBeMissing = { query: { ignore_unavailable: 'true' } }
  const hits = await requestHits(connection, toSearch(list, { size: 1, _source: false, query }, mayBeMissing))
  return hits.length > 0
}

/** The highest epoch of any state document, if it is above `from`; else `from`. */
export async function findEpoch(cluster: ReadCluster, from: number): Promise<number> {
  let epoch = from
  while (epoch < MAX_EPOCH && (await isNewerThan(cluster, getLastStamp(epoch), getLastStamp(MAX_EPOCH)))) epoch++
  return epoch
}

/** The published content, if the versions of the state and the documents of each index agree with it. */
async function findPublishedContent(cluster: Cluster, published: PublishedMeta) {
  const { names } = cluster
  const { end, partitions } = published
  const inventory = getInventory(published)
  if (inventory === undefined || published.mending || published.edition !== EDITION) return undefined
  const blockCounts = partitions.map((_, at) => inventory.indices[names.partition(blocks, at)]?.[1] ?? 0)
  if (blockCounts.reduce((sum, count) => sum + count, 0) !== end.height + 1) return undefined
  await refreshState(cluster)
  if (await isNewerThan(cluster, toStamp(published))) return undefined
  // The next batch was under way.
  await removeUnannounced(cluster, { end, partitions })
  const damages = await findDamage(cluster, { partitions, inventory, aliases: false, mayHoldMore: () => false })
  return damages.length > 0 ? undefined : toPublishedContent(names, published)
}

/** First heights of the partitions, from the published record and the stored blocks. */
async function findPartitions(
  { connection, names }: Cluster,
  existing: readonly ExistingIndex[],
  published: PartitionStarts | undefined,
): Promise<PartitionStarts> {
  const there = new Set(existing.map(({ name }) => name))
  const partitions: number[] = [0]
  for (let partition = 1; ; partition++) {
    const all = historyIndices.map(index => names.partition(index, partition))
    const isKnown = published !== undefined && partition < published.length
    if (!isKnown && !all.some(name => there.has(name))) return partitions
    const first = published?.[partition] ?? (await findFirstHeight(connection, all))
    if (first === undefined) return partitions
    if (first <= (partitions.at(-1) ?? 0))
      throw new Failure('damaged', `Partition ${partition} of ${names.prefix} begins at block ${first}.`, {
        help: "Run 'iostlens load' with another --store, or restore a snapshot.",
      })
    partitions.push(first)
  }
}

async function findFirstHeight(connection: ElasticConnection, indices: readonly string[]): Promise<number | undefined> {
  const { aggregations } = await requestJson<{
    readonly aggregations?: { readonly first: { readonly value: number | null } }
  }>(
    connection,
    toSearch(
      String(indices),
      { size: 0, aggs: { first: { min: { field: HEIGHT } } } },
      { query: { ignore_unavailable: 'true' } },
    ),
  )
  return aggregations?.first.value ?? undefined
}

/**
 * Writes the checkpoint again if it is lost or unreadable: from the published record if the store agrees with it.
 * Otherwise the checkpoint contains only the chain, the partitions and the published end, as far as they are known, and the
 * store is closed to all but a repair, which derives the state anew. No loader can continue meanwhile, because its own
 * checkpoint is gone.
 */
export async function restoreCheckpoint(served: Cluster): Promise<RestoreOutcome> {
  const existing = await listIndices(served)
  if ((await findFirstDocument(served)) === undefined) return 'whole'
  await showMeta(served, existing)
  const found = await awaitStarted(() => findCheckpoint(served), served.clock)
  if (found?.checkpoint !== undefined) return 'whole'
  const published = await tryReadPublished(served)
  const cluster = selectGenerations(served, published?.generations ?? findGenerations(served.names, existing))
  const partitions = await findPartitions(cluster, existing, published?.partitions)
  const identity = await readChainIdentity(cluster)
  const exact = published && (await findPublishedContent(cluster, published))
  const next: Omit<Checkpoint, 'write'> = {
    schema: SCHEMA,
    ...identity,
    owner: '',
    renewed: 0,
    partitions,
    generations: cluster.names.generations,
    ...(exact ?? {
      ...(published === undefined ? {} : { end: published.end }),
      filling: NOTHING_FILLED,
      batch: '',
      mending: true,
    }),
  }
  const held = await compareAndSet(served, next, found)
  if (held === undefined)
    throw new Failure('conflict', `Another program wrote the checkpoint in ${served.names.meta} meanwhile.`, {
      retryable: true,
    })
  return exact === undefined ? 'open' : 'exact'
}

/** Restores the alias of the index of checkpoint and published height, or creates that index. */
async function showMeta(cluster: Cluster, existing: readonly ExistingIndex[]): Promise<void> {
  const { connection, names } = cluster
  const all = existing.filter(({ of }) => of === 'meta')
  if (all.some(({ aliases }) => aliases.includes(names.meta))) return
  const last = all.toSorted((a, b) => b.generation - a.generation)[0]
  if (last === undefined) {
    const made = { name: `${names.meta}-0`, shape: metaShape, aliases: [names.meta] }
    return await createIndex(cluster, made)
  }
  await updateAliases(connection, {
    what: `put ${last.name} behind its alias`,
    actions: [{ add: { index: last.name, alias: names.meta } }],
  })
}

/** The served generation of each index: the one with the alias, or the only one. */
function findGenerations(names: Names, existing: readonly ExistingIndex[]): Generations {
  const generations: Record<string, number> = {}
  for (const of of new Set(existing.map(each => each.of))) {
    const all = existing.filter(each => each.of === of)
    const served = all.filter(({ aliases }) => aliases.includes(names.served(of)))
    const found = new Set((served.length > 0 ? served : all).map(({ generation }) => generation))
    const [generation = 0] = found
    if (found.size > 1)
      throw new Failure('damaged', `It is unknown which generation of ${names.served(of)} is served.`, {
        help: `Add the alias ${names.served(of)} to the right index (POST /_aliases), then run: 'iostlens repair --node URL'.`,
      })
    if (generation > 0) generations[of] = generation
  }
  return generations
}

/** The identity of the chain, from its first blocks. */
async function readChainIdentity({ connection, names }: Cluster): Promise<Identity> {
  const inFirst = [
    { index: names.partition(blocks, 0), id: blockId(0) },
    { index: names.partition(blocks, 0), id: blockId(1) },
    { index: names.partition(transactions, 0), id: transactionId(0, 0) },
  ]
  const [first, second, transaction] = await getMany(connection, inFirst, { realtime: true })
  return rebuildIdentity(`${connection.url}/${names.prefix}`, {
    first: first && decodeDoc(blocks, blockId(0), first.source),
    second: second && decodeDoc(blocks, blockId(1), second.source),
    transaction: transaction && decodeDoc(transactions, transactionId(0, 0), transaction.source),
  })
}
