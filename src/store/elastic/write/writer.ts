import { Failure } from '#failure/failure.ts'
import { type Change, historyIndices, type Key } from '#indices/registry.ts'
import { type BatchBounds, checkBatch } from '#store/batch.ts'
import type { Batch, Identity, Writer } from '#store/port.ts'
import { sendAcknowledged } from '../client/bulk-acknowledged.ts'
import { type BulkItem, deleteItem } from '../client/bulk-item.ts'
import { getMany } from '../client/get-many.ts'
import { refresh } from '../client/refresh.ts'
import { dueBalances } from '../read/due-balances.ts'
import { membersOf } from '../read/ranking-members.ts'
import { type Checkpoint, stampOf } from '../schema/checkpoint.ts'
import type { Cluster } from '../schema/cluster.ts'
import { createPartition, showPartition } from '../schema/create-partition.ts'
import { decode } from '../schema/documents.ts'
import { type IndexState, indexStates } from '../schema/index-states.ts'
import { addedBy, type Inventory, inventoryAfter, sumOf } from '../schema/inventory.ts'
import { partitionsWith } from '../schema/partitions.ts'
import { acquireLease, requireServed } from './acquire-lease.ts'
import { historyItems } from './history.ts'
import { historyAhead, type Stored } from './history-ahead.ts'
import { inventoryKeeper } from './inventory-keeper.ts'
import { type Entry, entriesOf, journalParts, partId, partItems } from './journal.ts'
import { keepLease } from './keep-lease.ts'
import { apply, recover } from './recover.ts'
import { removeJournalsBut } from './remove-leftovers.ts'
import { type Mender, menderOf } from './repair.ts'
import { rewriteDocuments } from './rewrite-documents.ts'
import { undoOf } from './undo.ts'

/** The larger a batch, the less often a document of state is written; its history is not held, but goes ahead. */
const BOUNDS: BatchBounds = {
  documents: 200_000,
  bytes: Number.POSITIVE_INFINITY,
  changes: 25_000,
  piece: { documents: 8_000, bytes: 4_000_000 },
}

export type WriterOptions = {
  readonly cluster: Cluster
  readonly identity: Identity
  /** `WriterPartitions.documents` */
  readonly partitionDocuments: number
  /** For a repair: what is stored is taken as it stands. */
  readonly mending: boolean
  readonly onRelease: () => void
}

/**
 * Takes the store over and brings it to its checkpoint. A batch goes in four steps: history and journal; the
 * checkpoint by compare-and-set (from here on it is committed); state; publication. Most of the history may have gone
 * before, see `history-ahead.ts`. One that opens a partition creates its indices before the first step and shows them
 * after it. Killed between any two, the next loader goes on from the
 * checkpoint.
 */
export const openWriter = async (options: WriterOptions): Promise<Writer> => {
  const { identity, mending } = options
  const lease = keepLease(
    options.cluster,
    await acquireLease(options.cluster, identity, mending ? requireServed : undefined),
  )
  const { cluster } = lease
  const { names } = cluster
  const keeper = inventoryKeeper(lease)
  /** Brings the store to its checkpoint, and makes sure that nothing of it is lost. */
  const restore = async (): Promise<void> => {
    const { inventory, partitions } = lease.checkpoint()
    const confirm = async () => inventory && keeper.require(inventory, partitions)
    await keeper.begin()
    await recover(cluster, lease.checkpoint(), confirm)
    await keeper.settle()
  }
  try {
    if (!mending) await restore()
  } catch (error) {
    await lease.release()
    throw error
  }
  const mender = mending ? await menderOf(lease) : undefined
  // Set while a batch is under way: a failure leaves the store to be recovered before the next one.
  let unclear = false
  const ahead = historyAhead({ cluster, checkpoint: lease.checkpoint })
  const commit = async (batch: Batch, stored: Stored | undefined): Promise<void> => {
    await stored?.written
    if (unclear) {
      if (stored !== undefined)
        throw new Failure(
          'unavailable',
          `The history stored ahead of block ${batch.first} must be removed first.`,
        )
      await ahead.forget()
      await lease.renew()
      await restore()
      unclear = false
      if (lease.checkpoint().end?.hash === batch.end.hash) return
    }
    cluster.requireLease()
    const before = lease.checkpoint()
    checkBatch(batch, before.end, stored?.last)
    const partitions = partitionsWith(before.partitions, batch)
    const { partition } = batch.filling
    if (stored !== undefined && stored.partition !== partition)
      throw new Failure('defect', `The history stored ahead of block ${batch.first} is in another partition.`)
    const opens = partitions !== before.partitions
    const stamp = stampOf({ end: batch.end, lift: before.lift })
    const entries = entriesOf(batch.changes, stamp)
    const kept = undoOf(batch, before, stamp)
    unclear = true
    if (opens && stored === undefined) await createPartition(cluster, partition)
    const name = crypto.randomUUID()
    const grown = await inventoriesOf(cluster, keeper.inventory(), { name, batch, stored, opens })
    const parts = await writeAll(cluster, { name, batch, partition, entries, before, kept })
    await refresh(
      cluster,
      historyIndices.map(index => names.partition(index, partition)),
    )
    if (opens) await showPartition(cluster, partition)
    const { end, filling } = batch
    await keeper.require(grown.written, partitions)
    await lease.set({
      end,
      batch: name,
      parts,
      partitions,
      filling,
      undo: kept?.undo,
      inventory: grown.applied,
    })
    const touched = new Set(entries.map(({ index }) => names.state(index)))
    const confirm = () => keeper.require(grown.applied, partitions)
    await apply(cluster, lease.checkpoint(), { entries, indices: [...touched], confirm })
    unclear = false
    // Forgets what is too old, a sixteenth of it at a time.
    if (before.undo !== undefined && kept?.undo.marks[0]?.[0] !== before.undo.marks[0]?.[0])
      await removeJournalsBut(cluster, lease.checkpoint())
  }
  let last: Promise<void> = Promise.resolve()
  // One after the other, also for a caller that does not wait.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.then(
      () => {},
      () => {},
    )
    return done
  }
  /** Ends with what has happened to the store, when that is why the work failed. */
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw await keeper.reasonFor(error)
    }
  }
  return {
    get checkpoint() {
      return lease.checkpoint().end
    },
    partitions: {
      get filling() {
        return lease.checkpoint().filling
      },
      documents: options.partitionDocuments,
    },
    bounds: BOUNDS,
    stage: history => told(ahead.store(history)),
    commit: batch => told(ahead.commit(batch, stored => inTurn(() => commit(batch, stored)))),
    accept: () => inTurn(keeper.accept),
    rewrite: rewrite =>
      inTurn(async () => {
        // Also makes sure that the store is still ours.
        await lease.renew()
        // What was kept to take batches back may be what is put right here.
        if (lease.checkpoint().undo !== undefined) await lease.set({ undo: undefined })
        const { partitions, end, lift } = lease.checkpoint()
        await rewriteDocuments(cluster, { partitions, stamp: end ? stampOf({ end, lift }) : 0 }, rewrite)
      }),
    get unfinished() {
      return mender?.unfinished ?? false
    },
    blockAt: async height => requireMender(mender).blockAt(height),
    endings: async () => requireMender(mender).endings(),
    takeBack: height => inTurn(() => requireMender(mender).takeBack(height)),
    settle: settled => inTurn(() => requireMender(mender).settle(settled)),
    getMany: keys => told(stateOf(cluster, keys)),
    due: range => told(dueBalances(cluster, range)),
    members: range => told(membersOf(cluster, range)),
    release: async () => {
      await last
      await ahead.forget()
      await lease.release()
      options.onRelease()
    },
  }
}

/** What there is once a batch's history is written, and once its state is applied as well. */
const inventoriesOf = async (
  { connection, names }: Cluster,
  before: Inventory,
  {
    name,
    batch,
    stored,
    opens,
  }: {
    readonly name: string
    readonly batch: Batch
    readonly stored: Stored | undefined
    readonly opens: boolean
  },
): Promise<{ readonly written: Inventory; readonly applied: Inventory }> => {
  const { partition } = batch.filling
  const opened = opens ? historyIndices.map(index => names.partition(index, partition)) : []
  const standing = opens ? await indexStates(connection, opened) : new Map<string, IndexState>()
  const uuids = new Map([...standing].map(([index, { uuid }]) => [index, uuid] as const))
  const own = addedBy(batch)
  const added = stored === undefined ? own : sumOf(stored.added, own)
  const grown = { name, partition, added, uuids }
  return {
    written: inventoryAfter(before, names, { ...grown, changes: [] }),
    applied: inventoryAfter(before, names, { ...grown, changes: batch.changes }),
  }
}

type Whole = {
  readonly name: string
  readonly batch: Batch
  readonly partition: number
  readonly entries: readonly Entry[]
  readonly before: Pick<Checkpoint, 'batch' | 'parts'>
  readonly kept: ReturnType<typeof undoOf>
}

const requireMender = (mender: Mender | undefined): Mender => {
  if (mender === undefined) throw new Failure('defect', 'The store was not locked for a repair.')
  return mender
}

/** Writes what is left of a batch's history, its journal, and the end of the journal before; how many parts that has. */
const writeAll = async (
  cluster: Cluster,
  { name, batch, partition, entries, before, kept }: Whole,
): Promise<number> => {
  const { names } = cluster
  let parts = 0
  const items = function* (): Generator<BulkItem, void, void> {
    yield* historyItems(names, partition, batch)
    for (const item of partItems(names, name, journalParts(entries))) {
      parts++
      yield item
    }
    if (kept !== undefined) yield* partItems(names, kept.undo.name, kept.bodies)
    // The journal before is applied and published; it goes along with this batch.
    for (let part = 0; part < before.parts; part++)
      yield deleteItem(names.journal, partId(before.batch, part))
  }
  await sendAcknowledged(cluster, items())
  return parts
}

/** State as of the last committed batch: it is applied and refreshed before the next one begins. */
const stateOf = async (
  cluster: Cluster,
  keys: readonly Key[],
): Promise<readonly (Change['doc'] | undefined)[]> => {
  const { names } = cluster
  const refs = keys.map(({ index, id }) => ({ index: names.state(index), id }))
  const found = await getMany(cluster.connection, refs, { realtime: false })
  return keys.map(({ index, id }, at) => {
    const got = found[at]
    return got === undefined ? undefined : (decode(index, id, got.source) as Change['doc'])
  })
}
