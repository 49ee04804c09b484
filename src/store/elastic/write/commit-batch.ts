import { Failure } from '#failure/failure.ts'
import { historyIndices } from '#indices/registry.ts'
import { checkBatch } from '#store/batch.ts'
import type { Batch } from '#store/port.ts'
import type { StateFile } from '#store/state-port.ts'
import { refresh } from '../client/refresh.ts'
import type { Checkpoint, Inventory } from '../schema/checkpoint-record.ts'
import { stampOf, versionAt } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { createPartition, showPartition } from '../schema/create-partition.ts'
import { type IndexState, indexStates } from '../schema/index-states.ts'
import { addedBy, inventoryAfter, lastIdsOf, sumOf } from '../schema/inventory.ts'
import type { Names } from '../schema/names.ts'
import { partitionsWith } from '../schema/partitions.ts'
import { formatContent } from './content.ts'
import { writeHistory } from './history.ts'
import type { HistoryAhead, Stored } from './history-ahead.ts'
import type { InventoryKeeper } from './inventory-keeper.ts'
import type { Lease } from './keep-lease.ts'
import { publish } from './publish.ts'
import { sendState, stampOfPublished, toItems } from './send-state.ts'

type Options = {
  readonly lease: Lease
  readonly keeper: InventoryKeeper
  readonly file: StateFile
  readonly ahead: Pick<HistoryAhead, 'forget'>
  /** Restores the store to its checkpoint. */
  readonly restore: () => Promise<void>
}

export type BatchCommitter = { commit(batch: Batch, stored: Stored | undefined): Promise<void> }

/** Commits batches one after the other; after a failure, restores the store to its checkpoint first. */
export const batchCommitter = ({ lease, keeper, file, ahead, restore }: Options): BatchCommitter => {
  // Set while a batch is under way: after a failure the store must be restored before the next batch.
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
    const planned = plan(lease.cluster.names, lease.checkpoint(), { batch, stored })
    isUnclear = true
    await carryOut({ lease, keeper, file }, planned)
    isUnclear = false
  }
  return { commit }
}

type Planned = ReturnType<typeof plan>

/** All writes of a batch. Throws, before anything is written, if the batch does not follow the checkpoint. */
const plan = (
  names: Names,
  before: Checkpoint,
  { batch, stored }: { readonly batch: Batch; readonly stored: Stored | undefined },
) => {
  checkBatch(batch, before.end, stored?.last)
  const partitions = partitionsWith(before.partitions, batch)
  const { partition } = batch.filling
  if (stored !== undefined && stored.filling.partition !== partition)
    throw new Failure('defect', `The history stored ahead of block ${batch.first} is in another partition.`)
  requireFloor(before.floor, batch)
  const { end, epoch } = before
  const stamp = stampOf({ end: batch.end, epoch })
  const published = stampOfPublished(end && { end, epoch })
  return {
    name: crypto.randomUUID(),
    before,
    batch,
    stored,
    partitions,
    partition,
    stamp,
    items: toItems(names, batch.changes, { stamp, published }),
    opens: partitions !== before.partitions,
  }
}

/** The batch writes all documents of an abandoned batch again, each where it is. */
const requireFloor = (floor: Checkpoint['floor'], { end, filling }: Batch): void => {
  if (floor === undefined) return
  if (end.height < floor.height)
    throw new Failure('defect', `The batch ends at block ${end.height}, below block ${floor.height}.`)
  if (filling.partition !== floor.partition)
    throw new Failure('conflict', `The blocks up to ${floor.height} were begun in partition ${floor.partition}.`, {
      help: 'Set --partition-documents as it was when the loader was stopped.',
    })
}

/**
 * Commits in five steps: history; the checkpoint by compare-and-set, which announces the batch; the batch in this loader's
 * own file; its state in the store; publication. From the second step on, other loaders either send the same state or end
 * their next batch at this height or above. A batch that opens a partition creates its indices before the first step and
 * adds them to the readers' aliases after it.
 */
const carryOut = async (
  { lease, keeper, file }: Pick<Options, 'lease' | 'keeper' | 'file'>,
  planned: Planned,
): Promise<void> => {
  const { cluster } = lease
  const { names } = cluster
  const { name, before, batch, stored, partitions, partition, opens, stamp, items } = planned
  if (opens && stored === undefined) await createPartition(cluster, partition)
  const inventories = await inventoriesOf(cluster, keeper.inventory(), planned)
  // History stored ahead is not searchable yet.
  const searchable = await writeHistory(cluster, { partition, history: batch, searchable: stored === undefined })
  if (!searchable)
    await refresh(
      cluster,
      historyIndices.map(index => names.partition(index, partition)),
    )
  if (opens) await showPartition(cluster, partition)
  await keeper.require(inventories.written, partitions)
  const { end, filling } = batch
  await lease.set({
    end,
    batch: name,
    from: before.batch,
    floor: undefined,
    partitions,
    filling,
    inventory: inventories.applied,
  })
  const { state: store = '' } = before
  await file.commit(batch, { mark: { store, stamp, hash: end.hash, batch: name }, before: formatContent(before) })
  await lease.requireFresh()
  await sendState(cluster, items, [...new Set(batch.changes.map(({ index }) => names.state(index)))])
  await keeper.require(inventories.applied, partitions)
  await lease.requireFresh()
  await publish(cluster, { ...lease.checkpoint(), end })
  await file.sent()
}

/** The inventory after a batch's history is written, and after its state is applied as well. */
const inventoriesOf = async (
  { connection, names }: Cluster,
  before: Inventory,
  { name, batch, stored, partition, stamp, opens }: Planned,
): Promise<{ readonly written: Inventory; readonly applied: Inventory }> => {
  const opened = opens ? historyIndices.map(index => names.partition(index, partition)) : []
  const states = opens ? await indexStates(connection, opened) : new Map<string, IndexState>()
  const uuids = new Map([...states].map(([index, { uuid }]) => [index, uuid] as const))
  const own = addedBy(batch)
  const added = stored === undefined ? own : sumOf(stored.added, own)
  const lastIds = { ...stored?.lastIds, ...lastIdsOf(batch) }
  const grown = { name, partition, added, lastIds, version: versionAt(stamp), uuids }
  return {
    written: inventoryAfter(before, names, { ...grown, changes: [] }),
    applied: inventoryAfter(before, names, { ...grown, changes: batch.changes }),
  }
}
