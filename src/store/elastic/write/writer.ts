import { Failure } from '#failure/failure.ts'
import type { Bounds } from '#store/batch.ts'
import type { Identity, Writer } from '#store/port.ts'
import type { OpenStateFile, StateFile } from '#store/state-port.ts'
import { tryAgain } from '../client/sender.ts'
import { OutOfDateCopy } from '../read/out-of-date.ts'
import type { ProofContext } from '../read/proved-docs.ts'
import { transactionsOf } from '../read/transactions-of.ts'
import { readPublished } from '../schema/checkpoint.ts'
import { type LastDocuments, lastDocuments, stampOf } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { acquireLease, requireServed } from './acquire-lease.ts'
import { bringHome } from './bring-home.ts'
import { batchCommitter } from './commit-batch.ts'
import { finishBatch } from './finish-batch.ts'
import { HistoryAhead } from './history-ahead.ts'
import { InventoryKeeper } from './inventory-keeper.ts'
import { keepLease, type Lease } from './keep-lease.ts'
import { recordMovedKeys } from './record-moved-keys.ts'
import { type RepairWriter, repairWriterOf } from './repair.ts'
import { rewriteDocuments } from './rewrite-documents.ts'

/** The larger a batch, the fewer writes of state documents. History is not buffered but written ahead. */
const BOUNDS = { documents: 200_000, bytes: Number.POSITIVE_INFINITY, changes: 25_000 }

export type WriterOptions = {
  readonly cluster: Cluster
  readonly identity: Identity
  /** `WriterPartitions.documents` */
  readonly partitionDocuments: number
  /** Amount of history that is written ahead of its batch at once. */
  readonly chunk: Bounds
  /** Whether the writer is for a repair, which accepts the store as it is. */
  readonly repair: boolean
  /** Opens the loader's own file with the state. */
  readonly openStateFile: OpenStateFile
  readonly onRelease: () => void
}

/**
 * Takes over the store and restores it to its checkpoint. If the process is killed, the next loader continues
 * from the checkpoint. Most of the history of a batch may be written ahead of it, see `history-ahead.ts`.
 */
export const openWriter = async (options: WriterOptions): Promise<Writer> => {
  const { lease, keeper, file, restore, repair } = await takeStore(options)
  const { cluster } = lease
  const { chunk } = options
  const ahead = new HistoryAhead({ cluster, checkpoint: lease.checkpoint, chunk })
  const { commit } = batchCommitter({ lease, keeper, file, ahead, restore })
  const { inTurn, settled } = turns()
  /** Settles like `work`, but rejects with the damage of the store if that caused the failure. */
  const named = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw await keeper.reasonFor(error)
    }
  }
  const ofHistory = wholeCopiesOf(cluster, () => lastDocuments(lease.checkpoint()))
  return {
    get checkpoint() {
      return lease.checkpoint().end
    },
    get floor() {
      return lease.checkpoint().floor?.height
    },
    partitions: {
      get filling() {
        return lease.checkpoint().filling
      },
      documents: options.partitionDocuments,
    },
    bounds: { ...BOUNDS, chunk },
    append: history => named(ahead.append(history)),
    commit: end => named(ahead.commit(end, (batch, stored) => inTurn(() => commit(batch, stored)))),
    accept: () => inTurn(() => keeper.accept()),
    rewrite: rewrite => inTurn(() => rewriteUnder(lease, rewrite)),
    get unfinished() {
      return repair?.unfinished ?? false
    },
    shut: () => inTurn(() => requireRepair(repair).shut()),
    blockAt: async height => requireRepair(repair).blockAt(height),
    endings: async () => requireRepair(repair).endings(),
    takeBack: height => inTurn(() => requireRepair(repair).takeBack(height)),
    settle: settled => inTurn(() => requireRepair(repair).settle(settled)),
    openState: async () => file,
    transactionsOf: hashes => named(ofHistory(proving => transactionsOf(proving, lease.checkpoint(), hashes))),
    release: async () => {
      await settled()
      file.close()
      await ahead.forget()
      await lease.release()
      options.onRelease()
    },
  }
}

/** Reads from a copy that shows these documents; if a copy is out of date, the next attempt may reach another copy. */
const wholeCopiesOf =
  (cluster: Cluster, last: () => LastDocuments) =>
  <T>(read: (proving: Cluster & ProofContext) => Promise<T>): Promise<T> =>
    tryAgain(cluster, async () => {
      try {
        return { done: await read({ ...cluster, last: last() }) }
      } catch (error) {
        if (error instanceof OutOfDateCopy) return { retryReason: error.message }
        throw error
      }
    })

/**
 * Takes the lease. Unless for a repair, restores the store to its checkpoint, checks that no data is lost, and brings the
 * loader's file up to it.
 */
const takeStore = async (options: WriterOptions) => {
  const { identity } = options
  const requirement = options.repair ? requireServed : undefined
  const acquired = await acquireLease(options.cluster, identity, requirement)
  const { cluster, held } = await recordMovedKeys(options.cluster, acquired)
  const lease = keepLease(cluster, held)
  const keeper = new InventoryKeeper(lease)
  let file: StateFile | undefined
  const restore = async (opened: StateFile): Promise<void> => {
    const confirm = async () => {
      const { inventory, partitions } = lease.checkpoint()
      if (inventory !== undefined) await keeper.require(inventory, partitions)
    }
    await keeper.begin()
    await finishBatch({ lease, file: opened, confirm }, await readPublished(lease.cluster))
    await keeper.settle()
    await bringHome(lease, opened)
  }
  try {
    const opened = options.openStateFile()
    file = opened
    const repair = options.repair ? await repairWriterOf(lease, opened) : undefined
    if (repair === undefined) await restore(opened)
    return { lease, keeper, file: opened, restore: () => restore(opened), repair }
  } catch (error) {
    file?.close()
    // If the lease cannot be released now, it expires; the thrown error is the cause.
    await lease.release().catch(() => {})
    throw error
  }
}

/** Runs work sequentially, even if the caller does not wait. */
const turns = () => {
  let last: Promise<void> = Promise.resolve()
  return {
    inTurn: <T>(work: () => Promise<T>): Promise<T> => {
      const done = last.then(work)
      last = done.then(
        () => {},
        () => {},
      )
      return done
    },
    settled: () => last,
  }
}

/** Corrects documents. Those of state change otherwise than by a batch, so every loader's file is filled anew. */
const rewriteUnder = async (lease: Lease, rewrite: Parameters<Writer['rewrite']>[0]): Promise<void> => {
  // The write also makes sure that this process still has the lease.
  await lease.set({ state: undefined })
  const { partitions, end, epoch } = lease.checkpoint()
  await rewriteDocuments(lease.cluster, { partitions, stamp: end ? stampOf({ end, epoch }) : 0 }, rewrite)
}

const requireRepair = (repair: RepairWriter | undefined): RepairWriter => {
  if (repair === undefined) throw new Failure('defect', 'The store was not locked for a repair.')
  return repair
}
