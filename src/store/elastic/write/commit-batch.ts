import { Failure } from '#failure/failure.ts'
import { type HistoryIndex, historyIndices } from '#indices/registry.ts'
import {
  appendedHistory,
  type BatchSize,
  checkBatch,
  checkHistory,
  createBatch,
  isFull,
  type WrittenAhead,
} from '#store/batch.ts'
import type { Batch, BatchEnd, History } from '#store/port.ts'
import type { StateFile } from '#store/state-port.ts'
import { refresh } from '../client/sender.ts'
import {
  type Checkpoint,
  formatContent,
  type IndexContent,
  type Inventory,
  type LastDocument,
  toPublishedStamp,
  toStamp,
  toVersion,
} from '../schema/checkpoint.ts'
import { createPartition, showPartition } from '../schema/create-indices.ts'
import { readIndexStates } from '../schema/index-states.ts'
import { addPartition, type Cluster, type Names, toStateId } from '../schema/names.ts'
import type { InventoryKeeper } from './inventory-keeper.ts'
import type { Lease } from './lease.ts'
import { publishEnd, sendState, toStateItems, writeHistory } from './send-documents.ts'

type StoredAhead = {
  readonly first: number
  readonly last: WrittenAhead
  readonly filling: History['filling']
  readonly added: Added
  /** Settles when all history is written; rejects if a write failed. */
  readonly written: Promise<void>
}

type AheadOptions = {
  readonly cluster: Cluster
  readonly checkpoint: () => Pick<Checkpoint, 'end' | 'partitions' | 'filling'>
  /** Appended history of this size is written at once; less is buffered and written with the batch in one bulk. */
  readonly chunk: BatchSize
}

/**
 * History of the next batch. For a large batch it is written while the batch is derived: above the
 * checkpoint, where no reader looks and the next loader cleans up. After a failure it is discarded.
 */
export class HistoryAhead {
  private readonly options: AheadOptions
  private readonly held = appendedHistory()
  /** The batch that is being committed; `done` settles when the commit does. */
  private under: { readonly batch: Batch; readonly done: Promise<void> } | undefined
  private stored: StoredAhead | undefined
  private last: Promise<void> = Promise.resolve()

  constructor(options: AheadOptions) {
    this.options = options
  }

  async append(history: History): Promise<void> {
    this.held.add(history)
    if (!isFull(this.held.size, this.options.chunk)) return
    const full = this.held.take()
    if (full !== undefined) await this.store(full)
  }

  /**
   * Commits the batch of the appended history. `work` gets the batch with the remaining history, and the
   * record of the history written ahead. History appended from now on belongs to the next batch.
   */
  async commit(end: BatchEnd, work: (batch: Batch, stored: StoredAhead | undefined) => Promise<void>): Promise<void> {
    const own = this.stored
    const filling = own?.filling ?? this.options.checkpoint().filling
    const rest = this.held.take() ?? { blocks: [], transactions: [], records: [], filling }
    const batch = { ...createBatch(rest, end, this.nextHeight()), ...(own && { first: own.first }) }
    this.stored = undefined
    const done = work(batch, own)
    const mine = { batch, done }
    this.under = mine
    try {
      await done
    } finally {
      if (this.under === mine) this.under = undefined
    }
  }

  /** Resolves when no write is under way; the history written ahead is discarded. */
  async forget(): Promise<void> {
    this.stored = undefined
    await this.last
  }

  private async store(history: History): Promise<void> {
    this.options.cluster.requireLease?.()
    const first = this.nextHeight()
    checkHistory(history, first)
    const end = history.blocks.at(-1)
    if (end === undefined) return
    const { filling } = history
    const { stored, under } = this
    if (stored !== undefined && stored.filling.partition !== filling.partition)
      throw new Failure('defect', `History of block ${first} belongs to another partition than its batch.`)
    const { partitions } = this.options.checkpoint()
    const before = under === undefined ? partitions : addPartition(partitions, under.batch)
    // History that begins a batch may open a partition.
    const opens = stored === undefined && addPartition(before, { first, filling }) !== before
    const after = opens ? (under?.done ?? Promise.resolve()) : undefined
    // After a failed write no further history is written.
    const written = (stored?.written ?? this.last).then(() => this.write(history, after))
    this.stored = {
      first: stored?.first ?? first,
      last: { height: end.height, hash: end.hash, time: end.time },
      filling,
      added: countAdded(history, stored?.added),
      written,
    }
    this.last = written.catch(() => {})
    await written
  }

  private async write(history: History, after: Promise<void> | undefined): Promise<void> {
    const { cluster } = this.options
    const { partition } = history.filling
    if (after !== undefined) {
      // A cleanup covers at most one partition after that of the checkpoint. So nothing is written if the
      // previous batch, which may have opened that partition, failed.
      await after
      await createPartition(cluster, partition)
    }
    await writeHistory(cluster, { partition, history })
  }

  /** The block after all history that was committed, is being committed or was written ahead. */
  private nextHeight(): number {
    const end = this.stored?.last ?? this.under?.batch.end ?? this.options.checkpoint().end
    return (end?.height ?? -1) + 1
  }
}

type CommitOptions = {
  readonly lease: Lease
  readonly keeper: InventoryKeeper
  readonly file: StateFile
  readonly ahead: Pick<HistoryAhead, 'forget'>
  /** Publishes the announced batch, or returns to the published end. */
  readonly restore: () => Promise<void>
}

/** A function that commits batches one after the other. After a failure, the store is first restored to a published end. */
export function createCommitter({ lease, keeper, file, ahead, restore }: CommitOptions) {
  // Set while a batch is under way: after a failure the store must be restored before the next batch.
  let isUnclear = false
  return async (batch: Batch, stored: StoredAhead | undefined): Promise<void> => {
    await stored?.written
    if (isUnclear) {
      if (stored !== undefined)
        throw new Failure('unavailable', `The history stored ahead of block ${batch.first} must be removed first.`)
      await ahead.forget()
      await lease.renew()
      await restore()
      isUnclear = false
      // The failed commit had announced this batch, and the recovery has published it: the hash of its last block stands for
      // all of its content.
      if (lease.checkpoint().end?.hash === batch.end.hash) return
    }
    lease.cluster.requireLease()
    const planned = planBatch(lease.cluster.names, lease.checkpoint(), { batch, stored })
    isUnclear = true
    await carryOutBatch({ lease, keeper, file }, planned)
    isUnclear = false
  }
}

type PlannedBatch = ReturnType<typeof planBatch>

/** All writes of a batch. Throws, before anything is written, if the batch does not follow the checkpoint. */
function planBatch(
  names: Names,
  before: Checkpoint,
  { batch, stored }: { readonly batch: Batch; readonly stored: StoredAhead | undefined },
) {
  checkBatch(batch, before.end, stored?.last)
  const partitions = addPartition(before.partitions, batch)
  const { partition } = batch.filling
  if (stored !== undefined && stored.filling.partition !== partition)
    throw new Failure('defect', `The history stored ahead of block ${batch.first} is in another partition.`)
  const { end, epoch, floor } = before
  // The batch must write all documents of an abandoned batch again, each in its partition.
  if (floor !== undefined && batch.end.height < floor.height)
    throw new Failure('defect', `The batch ends at block ${batch.end.height}, below block ${floor.height}.`)
  if (floor !== undefined && partition !== floor.partition)
    throw new Failure('conflict', `The blocks up to ${floor.height} were begun in partition ${floor.partition}.`, {
      help: 'Set --partition-documents as it was when the loader was stopped.',
    })
  const stamp = toStamp({ end: batch.end, epoch })
  const published = toPublishedStamp(end && { end, epoch })
  return {
    name: crypto.randomUUID(),
    before,
    batch,
    stored,
    partitions,
    partition,
    stamp,
    items: toStateItems(names, batch.changes, { stamp, published }),
    opens: partitions !== before.partitions,
  }
}

/**
 * Commits in five steps: history; the checkpoint by compare-and-set, which announces the batch; the batch in this loader's
 * own file; its state in the store; publication. From the second step on, other loaders either send the same state or end
 * their next batch at this height or above. A batch that opens a partition creates its indices before the first step and
 * adds them to the readers' aliases after it.
 */
async function carryOutBatch(
  { lease, keeper, file }: Pick<CommitOptions, 'lease' | 'keeper' | 'file'>,
  planned: PlannedBatch,
): Promise<void> {
  const { cluster } = lease
  const { names } = cluster
  const { name, before, batch, stored, partitions, partition, opens, stamp, items } = planned
  if (opens && stored === undefined) await createPartition(cluster, partition)
  const inventories = await planInventories(cluster, keeper.inventory(), planned)
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
  await publishEnd(cluster, { ...lease.checkpoint(), end })
  await file.sent()
}

/** The inventory after the history of a batch is written, and after its state is written as well. */
async function planInventories(
  { connection, names }: Cluster,
  before: Inventory,
  { name, batch, stored, partition, stamp, opens }: PlannedBatch,
): Promise<{ readonly written: Inventory; readonly applied: Inventory }> {
  const opened = opens ? historyIndices.map(index => names.partition(index, partition)) : []
  const states = await readIndexStates(connection, opened)
  const added = countAdded(batch, stored?.added)
  const grow = (changes: Batch['changes']): Inventory => {
    const indices: Record<string, IndexContent> = { ...before.indices }
    const last: Record<string, LastDocument> = { ...before.last }
    for (const [index, { uuid }] of states) indices[index] = [uuid, 0]
    const add = (index: string, more: number): void => {
      const [uuid = '', documents = 0] = indices[index] ?? []
      indices[index] = [uuid, documents + more]
    }
    for (const { index, documents, lastId } of added) {
      const partitionName = names.partition(index, partition)
      add(partitionName, documents)
      if (lastId !== undefined) last[partitionName] = [lastId, 1]
    }
    // The changes are written in this order, so the last one counts.
    for (const { index, doc, before: was } of changes) {
      if (was === undefined) add(names.state(index), 1)
      last[names.state(index)] = [toStateId(index, doc.id), toVersion(stamp)]
    }
    return { batch: name, indices, last }
  }
  return { written: grow([]), applied: grow(batch.changes) }
}

/** What history adds to each index of its partition: documents, and the id of the last one. */
type Added = readonly {
  readonly index: HistoryIndex
  readonly documents: number
  readonly lastId?: string | undefined
}[]

function countAdded(history: Pick<History, HistoryIndex['name']>, before: Added = []): Added {
  return historyIndices.map((index, at) => {
    const { documents = 0, lastId } = before[at] ?? {}
    const added = history[index.name]
    return { index, documents: documents + added.length, lastId: added.at(-1)?.id ?? lastId }
  })
}
