import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/position.ts'
import { transactions } from '#indices/transaction.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import { identityFrom } from '#store/identity.ts'
import type { Identity } from '#store/port.ts'
import type { RestoreOutcome } from '#store/restored.ts'
import { getMany } from '../client/get-many.ts'
import { requestJson } from '../client/request-json.ts'
import { findCheckpoint, readablePublished } from '../schema/checkpoint.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import { at, type Cluster } from '../schema/cluster.ts'
import { createIndex } from '../schema/create-indices.ts'
import { decode } from '../schema/documents.ts'
import { type Existing, listIndices } from '../schema/list-indices.ts'
import { metaShape, SCHEMA } from '../schema/mappings.ts'
import type { Generations, Names } from '../schema/names.ts'
import { firstDocument } from '../schema/require-empty.ts'
import { onceStarted } from '../schema/wait-for-shards.ts'
import { compareAndSet } from './compare-and-set.ts'
import { findPartitions, findPublishedEnd } from './find-published-end.ts'
import { forcePublish } from './publish.ts'

/**
 * Writes the checkpoint again if it is lost or unreadable: from the published record if the store agrees with it.
 * Otherwise the checkpoint contains only the known chain and partitions, and the store is closed to all but a repair,
 * which derives the state anew. No loader can continue meanwhile, because its own checkpoint is gone.
 */
export const restoreCheckpoint = async (served: Cluster): Promise<RestoreOutcome> => {
  const existing = await listIndices(served)
  if ((await firstDocument(served)) === undefined) return 'whole'
  await showMeta(served, existing)
  const found = await onceStarted(() => findCheckpoint(served), served.clock)
  if (found?.checkpoint !== undefined) return 'whole'
  const published = await readablePublished(served)
  const cluster = at(served, published?.generations ?? generationsIn(served.names, existing))
  const partitions = await findPartitions(cluster, existing, published?.partitions)
  const identity = await identityIn(cluster)
  const exact = published && (await findPublishedEnd(cluster, published))
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
  if (exact === undefined) return 'open'
  // The published record also lists the indices, and one of them may have been replaced.
  await forcePublish({ ...cluster, names: served.names }, { ...held.checkpoint, end: exact.end })
  return 'exact'
}

/** Restores the alias of the index of checkpoint and published height, or creates that index. */
const showMeta = async (cluster: Cluster, existing: readonly Existing[]): Promise<void> => {
  const { connection, names } = cluster
  const all = existing.filter(({ of }) => of === 'meta')
  if (all.some(({ aliases }) => aliases.includes(names.meta))) return
  const last = all.toSorted((a, b) => b.generation - a.generation)[0]
  if (last === undefined) {
    const made = { name: `${names.meta}-0`, shape: metaShape, aliases: [names.meta] }
    return await createIndex(cluster, made)
  }
  await requestJson(connection, {
    what: `put ${last.name} behind its alias`,
    method: 'POST',
    path: '/_aliases',
    body: JSON.stringify({ actions: [{ add: { index: last.name, alias: names.meta } }] }),
  })
}

/** The served generation of each index: the one with the alias, or the only one. */
const generationsIn = (names: Names, existing: readonly Existing[]): Generations => {
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
const identityIn = async ({ connection, names }: Cluster): Promise<Identity> => {
  const inFirst = [
    { index: names.partition(blocks, 0), id: blockId(0) },
    { index: names.partition(blocks, 0), id: blockId(1) },
    { index: names.partition(transactions, 0), id: transactionId(0, 0) },
  ]
  const [first, second, transaction] = await getMany(connection, inFirst, { realtime: true })
  return identityFrom(`${connection.url}/${names.prefix}`, {
    first: first && decode(blocks, blockId(0), first.source),
    second: second && decode(blocks, blockId(1), second.source),
    transaction: transaction && decode(transactions, transactionId(0, 0), transaction.source),
  })
}
