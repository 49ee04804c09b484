import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/list.ts'
import { historyIndices } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { transactions } from '#indices/transaction.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import { rebuildIdentity } from '#store/identity.ts'
import type { RestoreOutcome, SettledEnd } from '#store/maintain-port.ts'
import type { Identity, Published, Writer } from '#store/port.ts'
import type { StateFile } from '#store/state-port.ts'
import { getMany } from '../client/read-documents.ts'
import { requestHits, requestJson, toSearch } from '../client/request.ts'
import { refresh, removeWriteBlock } from '../client/sender.ts'
import {
  type Checkpoint,
  findCheckpoint,
  getInventory,
  getLastStamp,
  MAX_EPOCH,
  type PublishedMeta,
  parseContent,
  toEpoch,
  toHeight,
  toStamp,
  tryReadPublished,
} from '../schema/checkpoint.ts'
import { awaitStarted, createIndex, findFirstDocument } from '../schema/create-indices.ts'
import { decodeDoc } from '../schema/documents.ts'
import { countEarlierDocuments, type ExistingIndex, listIndices, updateAliases } from '../schema/index-states.ts'
import { findDamage } from '../schema/inventory.ts'
import { AT, EDITION, HEIGHT, metaShape, SCHEMA } from '../schema/mappings.ts'
import {
  type Cluster,
  findPartition,
  type Generations,
  joinParts,
  type Names,
  type PartitionStarts,
  type ReadCluster,
  selectGenerations,
  toStateId,
} from '../schema/names.ts'
import { finishBatch, toPublishedContent } from './finish-batch.ts'
import { compareAndSet, type Lease } from './lease.ts'
import { forcePublish, removeHistory, removeUnannounced, rewriteDocuments } from './send-documents.ts'

/** The part of a writer that repairs the store's own record. */
export type RepairPart = Pick<Writer, 'unfinished' | 'shut' | 'blockAt' | 'endings' | 'takeBack' | 'settle'>

/** Time after which all reads that began before the store was closed have ended; later ones are refused. */
const GRACE_MS = 1_000

export async function openRepair(lease: Lease, file: StateFile): Promise<RepairPart> {
  const { cluster } = lease
  const isClear = await tryToFinish(lease, file)
  return {
    get unfinished() {
      // Documents of an abandoned batch are among those of the state.
      return !isClear || lease.checkpoint().mending === true || lease.checkpoint().floor !== undefined
    },
    shut: () => lease.set({ mending: true }),
    blockAt: async height => {
      const index = cluster.names.partition(blocks, findPartition(lease.checkpoint().partitions, height))
      const id = blockId(height)
      const [got] = await getMany(cluster.connection, [{ index, id }], { realtime: true })
      return got && decodeDoc(blocks, id, got.source)
    },
    endings: () => (isClear ? listEndings(cluster, lease.checkpoint(), file) : Promise.resolve([])),
    takeBack: height => revertBlocks(lease, file, height),
    settle: settled => settleEnd(lease, file, settled),
  }
}

/** Publishes or abandons the batch of a dead loader; false: damage prevents it. */
async function tryToFinish(lease: Lease, file: StateFile): Promise<boolean> {
  const published = await tryReadPublished(lease.cluster)
  if (published?.batch === lease.checkpoint().batch) return true
  try {
    await finishBatch({ lease, file }, published)
    return true
  } catch (error) {
    lease.cluster.requireLease()
    // Damage is the reason for a repair. The next request throws any other failure too.
    if (error instanceof Failure && !error.retryable) return false
    throw error
  }
}

/** Heights in the checkpoint, the published record, the loader's own file, and the document that every batch writes. */
async function listEndings(cluster: Cluster, checkpoint: Checkpoint, file: StateFile): Promise<readonly number[]> {
  const { connection, names } = cluster
  const published = await tryReadPublished(cluster)
  const ref = { index: names.state(statistics), id: toStateId(statistics, STATISTICS) }
  const [written] = await getMany(connection, [ref], { realtime: true })
  const at = written?.source[AT]
  return [
    checkpoint.end?.height,
    published?.end.height,
    file.mark?.store === checkpoint.state && file.mark ? toHeight(file.mark.stamp) : undefined,
    typeof at === 'number' ? toHeight(at) : undefined,
  ].filter(height => height !== undefined)
}

/** An epoch above all epochs ever written. */
async function findNextEpoch(cluster: Cluster, { epoch = 0 }: Checkpoint): Promise<number> {
  const { names } = cluster
  const published = await tryReadPublished(cluster)
  const [doc] = await getMany(cluster.connection, [{ index: names.meta, id: 'published' }], { realtime: true })
  const known = [epoch, published?.epoch ?? 0, toEpoch((doc?.version ?? 1) - 1)]
  await refreshState(cluster)
  // Versions beyond are from another program.
  let highest = Math.max(...known.filter(each => each <= MAX_EPOCH))
  while (highest < MAX_EPOCH && (await isNewerThan(cluster, getLastStamp(highest), getLastStamp(MAX_EPOCH)))) highest++
  if (highest < MAX_EPOCH) return highest + 1
  throw new Failure('conflict', `${names.prefix} has documents of its last epoch, ${MAX_EPOCH}.`, {
    help: "Another program wrote them. Run 'iostlens load' with another --store.",
  })
}

/** Sets the checkpoint and publishes it; readers that know an earlier one read again. */
async function publishNext(lease: Lease, next: Partial<Checkpoint> & { readonly end: Published }): Promise<void> {
  await lease.set({ batch: crypto.randomUUID(), ...next, from: undefined, floor: undefined })
  await forcePublish(lease.cluster, { ...lease.checkpoint(), end: next.end })
}

function isHome({ mark }: StateFile, { state }: Checkpoint, end: Pick<Published, 'height' | 'hash'>): boolean {
  return mark !== undefined && mark.store === state && toHeight(mark.stamp) === end.height && mark.hash === end.hash
}

async function settleEnd(lease: Lease, file: StateFile, { identity, end, open }: SettledEnd): Promise<void> {
  const { chainId, genesis, derivation } = identity
  const { cluster } = lease
  const before = lease.checkpoint()
  const epoch = await findNextEpoch(cluster, before)
  const partitions = before.partitions.filter((first, at) => at === 0 || first <= end.height)
  const state = before.floor === undefined && isHome(file, before, end) ? before.state : undefined
  const next = { chainId, genesis, derivation, end, partitions, epoch, state }
  if (!open) {
    // If the process is killed before the history is removed, the next repair must still know its partitions.
    await publishNext(lease, { ...next, partitions: before.partitions, mending: true })
    await cluster.clock.sleep(GRACE_MS)
  }
  await reopenAndRemoveHistory(lease, end.height, before.partitions)
  const partition = partitions.length - 1
  const filled = historyIndices.map(index => cluster.names.partition(index, partition))
  const filling = { partition, documents: await countEarlierDocuments(cluster.connection, filled, end.height) }
  if (open) await publishNext(lease, { ...next, filling, mending: undefined })
  else await lease.set({ partitions, filling })
}

/** Removes history above a height; a merged partition becomes writable for good. */
async function reopenAndRemoveHistory(lease: Lease, height: number, partitions: PartitionStarts): Promise<void> {
  const { connection, names } = lease.cluster
  const numbers = partitions.map((_, number) => number).slice(findPartition(partitions, height))
  const indices = numbers.flatMap(number => historyIndices.map(index => names.partition(index, number)))
  for (const part of joinParts(indices)) await removeWriteBlock(connection, part)
  await removeHistory(lease, height, partitions)
}

async function revertBlocks(lease: Lease, file: StateFile, height: number): Promise<Published | undefined> {
  const { cluster } = lease
  const before = lease.checkpoint()
  const { end: last } = before
  if (last === undefined || (last.height <= height && !before.mending)) return last
  if (last.height <= height || before.floor !== undefined || !isHome(file, before, last)) return undefined
  const former = file.takeBack({ from: last.height, height }, text => parseContent(text)?.end.height)
  const target = former && parseContent(former.before)
  if (former === undefined || target === undefined) return undefined
  // Closes the store to readers. If this process dies, batches can still be reverted from this end.
  await publishNext(lease, { end: last, epoch: await findNextEpoch(cluster, lease.checkpoint()), mending: true })
  await cluster.clock.sleep(GRACE_MS)
  const { end } = target
  const epoch = await findNextEpoch(cluster, lease.checkpoint())
  const { partitions } = lease.checkpoint()
  // The stamp is higher than any that readers have seen.
  await rewriteDocuments(
    cluster,
    { partitions, stamp: toStamp({ end, epoch }) },
    {
      put: former.documents.flatMap(({ index, doc }) => (doc === undefined ? [] : [{ index, doc }])),
      remove: former.documents.filter(({ doc }) => doc === undefined),
    },
  )
  await reopenAndRemoveHistory(lease, end.height, partitions)
  const batch = crypto.randomUUID()
  const inventory = target.inventory && { ...target.inventory, batch }
  await publishNext(lease, { ...target, batch, inventory, epoch, state: undefined, mending: undefined })
  return end
}

/** Makes all state visible to the searches below: a loader that died while writing had not refreshed it. */
function refreshState(cluster: Cluster): Promise<void> {
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
  await removeUnannounced({ cluster }, { end, partitions })
  const damages = await findDamage(cluster, { inventory, mayHoldMore: () => false })
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
    const search = { size: 0, aggs: { first: { min: { field: HEIGHT } } } }
    const request = toSearch(String(all), search, { query: { ignore_unavailable: 'true' } })
    type Answer = { readonly aggregations?: { readonly first: { readonly value: number | null } } }
    const findFirst = async () => (await requestJson<Answer>(connection, request)).aggregations?.first.value
    const first = published?.[partition] ?? (await findFirst()) ?? undefined
    if (first === undefined) return partitions
    if (first <= (partitions.at(-1) ?? 0))
      throw new Failure('damaged', `Partition ${partition} of ${names.prefix} begins at block ${first}.`, {
        help: "Run 'iostlens load' with another --store, or restore a snapshot.",
      })
    partitions.push(first)
  }
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
  if (last === undefined)
    return await createIndex(cluster, { name: `${names.meta}-0`, shape: metaShape, aliases: [names.meta] })
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
