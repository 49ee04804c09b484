import { Failure } from '#failure/failure.ts'
import { historyIndices } from '#indices/registry.ts'
import { checkBatch } from '#store/batch.ts'
import type { Batch } from '#store/port.ts'
import { sendAcknowledged } from '../client/bulk-acknowledged.ts'
import { type BulkItem, deleteItem } from '../client/bulk-item.ts'
import { refresh } from '../client/refresh.ts'
import type { Checkpoint, Inventory } from '../schema/checkpoint-record.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { createPartition, showPartition } from '../schema/create-partition.ts'
import { type IndexState, indexStates } from '../schema/index-states.ts'
import { addedBy, inventoryAfter, lastIdsOf, sumOf } from '../schema/inventory.ts'
import { partitionsWith } from '../schema/partitions.ts'
import { writeHistory } from './history.ts'
import type { HistoryAhead, Stored } from './history-ahead.ts'
import type { InventoryKeeper } from './inventory-keeper.ts'
import { entriesOf, journalParts, partId, partItems } from './journal.ts'
import type { Lease } from './keep-lease.ts'
import { apply } from './recover.ts'
import { removeJournalsBut } from './remove-leftovers.ts'
import { undoOf } from './undo.ts'

type Options = {
  readonly lease: Lease
  readonly keeper: InventoryKeeper
  readonly ahead: Pick<HistoryAhead, 'forget'>
  /** Restores the store to its checkpoint. */
  readonly restore: () => Promise<void>
}

export type BatchCommitter = { commit(batch: Batch, stored: Stored | undefined): Promise<void> }

/** Commits batches one after the other; after a failure, restores the store to its checkpoint first. */
export const batchCommitter = ({ lease, keeper, ahead, restore }: Options): BatchCommitter => {
  // Set while a batch is under way: after a failure the store must be recovered before the next batch.
  let isUnclear = false
  const recover = async (batch: Batch, stored: Stored | undefined): Promise<void> => {
    if (stored !== undefined)
      throw new Failure('unavailable', `The history stored ahead of block ${batch.first} must be removed first.`)
    await ahead.forget()
    await lease.renew()
    await restore()
    isUnclear = false
  }
  const commit = async (batch: Batch, stored: Stored | undefined): Promise<void> => {
    await stored?.written
    if (isUnclear) {
      await recover(batch, stored)
      if (lease.checkpoint().end?.hash === batch.end.hash) return
    }
    lease.cluster.requireLease()
    const planned = plan(lease.checkpoint(), batch, stored)
    isUnclear = true
    await carryOut(lease, keeper, planned)
    isUnclear = false
    if (dropsUndo(planned)) await removeJournalsBut(lease.cluster, lease.checkpoint())
  }
  return { commit }
}

type Planned = ReturnType<typeof plan>

/** All writes of a batch. Throws, before anything is written, if the batch does not follow the checkpoint. */
const plan = (before: Checkpoint, batch: Batch, stored: Stored | undefined) => {
  checkBatch(batch, before.end, stored?.last)
  const partitions = partitionsWith(before.partitions, batch)
  const { partition } = batch.filling
  if (stored !== undefined && stored.filling.partition !== partition)
    throw new Failure('defect', `The history stored ahead of block ${batch.first} is in another partition.`)
  const stamp = stampOf({ end: batch.end, lift: before.lift })
  return {
    name: crypto.randomUUID(),
    before,
    batch,
    stored,
    partitions,
    partition,
    version: versionAt(stamp),
    opens: partitions !== before.partitions,
    entries: entriesOf(batch.changes, stamp),
    kept: undoOf(batch, before, stamp),
  }
}

/** The undo records before the first mark are dropped a sixteenth at a time. */
const dropsUndo = ({ before, kept }: Planned): boolean =>
  before.undo !== undefined && kept?.undo.marks[0]?.[0] !== before.undo.marks[0]?.[0]

/**
 * Commits in four steps: history and journal; the checkpoint by compare-and-set, which commits the batch;
 * state; publication. A batch that opens a partition creates its indices before the first step and adds them
 * to the readers' aliases after it.
 */
const carryOut = async (lease: Lease, keeper: InventoryKeeper, planned: Planned): Promise<void> => {
  const { cluster } = lease
  const { names } = cluster
  const { name, batch, stored, partitions, partition, opens, entries, kept } = planned
  if (opens && stored === undefined) await createPartition(cluster, partition)
  const inventories = await inventoriesOf(cluster, keeper.inventory(), planned)
  const { parts, searchable } = await writeAll(cluster, planned)
  if (!searchable)
    await refresh(
      cluster,
      historyIndices.map(index => names.partition(index, partition)),
    )
  if (opens) await showPartition(cluster, partition)
  await keeper.require(inventories.written, partitions)
  await lease.set({
    end: batch.end,
    batch: name,
    parts,
    partitions,
    filling: batch.filling,
    undo: kept?.undo,
    inventory: inventories.applied,
  })
  const confirm = () => keeper.require(inventories.applied, partitions)
  await apply(cluster, lease.checkpoint(), { entries, confirm })
}

/** The inventory after a batch's history is written, and after its state is applied as well. */
const inventoriesOf = async (
  { connection, names }: Cluster,
  before: Inventory,
  { name, batch, stored, partition, version, opens }: Planned,
): Promise<{ readonly written: Inventory; readonly applied: Inventory }> => {
  const opened = opens ? historyIndices.map(index => names.partition(index, partition)) : []
  const states = opens ? await indexStates(connection, opened) : new Map<string, IndexState>()
  const uuids = new Map([...states].map(([index, { uuid }]) => [index, uuid] as const))
  const own = addedBy(batch)
  const added = stored === undefined ? own : sumOf(stored.added, own)
  const lastIds = { ...stored?.lastIds, ...lastIdsOf(batch) }
  const grown = { name, partition, added, lastIds, version, uuids }
  return {
    written: inventoryAfter(before, names, { ...grown, changes: [] }),
    applied: inventoryAfter(before, names, { ...grown, changes: batch.changes }),
  }
}

/**
 * Writes the rest of a batch's history and at the same time its journal, and deletes the previous journal.
 * Returns the number of journal parts, and whether all history of the batch is searchable.
 */
const writeAll = async (
  cluster: Cluster,
  { name, batch, stored, partition, entries, before, kept }: Planned,
): Promise<{ readonly parts: number; readonly searchable: boolean }> => {
  const { names } = cluster
  let parts = 0
  const journal = function* (): Generator<BulkItem, void, void> {
    for (const item of partItems(names, name, journalParts(entries))) {
      parts++
      yield item
    }
    if (kept !== undefined) yield* partItems(names, kept.undo.name, kept.bodies)
    // The previous journal is applied and published, so it is deleted with this batch.
    for (let part = 0; part < before.parts; part++) yield deleteItem(names.journal, partId(before.batch, part))
  }
  // Two requests: the journal is never searched, so it need not be refreshed.
  const written = await Promise.allSettled([
    // History stored ahead is not searchable yet.
    writeHistory(cluster, { partition, history: batch, searchable: stored === undefined }),
    sendAcknowledged(cluster, journal()),
  ])
  for (const each of written) if (each.status === 'rejected') throw each.reason
  return { parts, searchable: written[0].status === 'fulfilled' && written[0].value }
}
