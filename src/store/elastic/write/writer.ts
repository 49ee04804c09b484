import { Failure } from '#failure/failure.ts'
import type { Bounds } from '#store/batch.ts'
import type { Identity, Writer } from '#store/port.ts'
import type { OpenStateFile } from '#store/state-port.ts'
import { tryAgain } from '../client/sender.ts'
import { OutOfDateCopy } from '../read/out-of-date.ts'
import type { ProofContext } from '../read/proved-docs.ts'
import { transactionsOf } from '../read/transactions-of.ts'
import { type LastDocuments, lastDocuments, stampOf } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { acquireLease, requireServed } from './acquire-lease.ts'
import { batchCommitter } from './commit-batch.ts'
import { HistoryAhead } from './history-ahead.ts'
import { InventoryKeeper } from './inventory-keeper.ts'
import { keepLease, type Lease } from './keep-lease.ts'
import { recordMovedKeys } from './record-moved-keys.ts'
import { recover } from './recover.ts'
import { type RepairWriter, repairWriterOf } from './repair.ts'
import { rewriteDocuments } from './rewrite-documents.ts'
import { keepStateHome } from './state-home.ts'

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
  const { lease, keeper, restore, repair } = await takeStore(options)
  const { cluster } = lease
  const { chunk } = options
  const ahead = new HistoryAhead({ cluster, checkpoint: lease.checkpoint, chunk })
  const { commit } = batchCommitter({ lease, keeper, ahead, restore })
  const { inTurn, settled } = turns()
  const home = keepStateHome(lease, options.openStateFile)
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
    partitions: {
      get filling() {
        return lease.checkpoint().filling
      },
      documents: options.partitionDocuments,
    },
    bounds: { ...BOUNDS, chunk },
    append: history => named(ahead.append(history)),
    commit: end =>
      named(
        ahead.commit(end, (batch, stored) =>
          inTurn(async () => {
            await commit(batch, stored)
            await home.put(batch)
          }),
        ),
      ),
    accept: () => inTurn(() => keeper.accept()),
    rewrite: rewrite => inTurn(() => changeState(lease, () => rewriteUnder(lease, rewrite))),
    get unfinished() {
      return repair?.unfinished ?? false
    },
    shut: () => inTurn(() => requireRepair(repair).shut()),
    blockAt: async height => requireRepair(repair).blockAt(height),
    endings: async () => requireRepair(repair).endings(),
    takeBack: height => inTurn(() => changeState(lease, () => requireRepair(repair).takeBack(height))),
    settle: settled => inTurn(() => changeState(lease, () => requireRepair(repair).settle(settled))),
    openState: () => inTurn(() => named(home.open())),
    transactionsOf: hashes => named(ofHistory(proving => transactionsOf(proving, lease.checkpoint(), hashes))),
    release: async () => {
      await settled()
      home.close()
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

/** Takes the lease. Unless for a repair, restores the store to its checkpoint and checks that no data is lost. */
const takeStore = async (options: WriterOptions) => {
  const { identity } = options
  const requirement = options.repair ? requireServed : undefined
  const acquired = await acquireLease(options.cluster, identity, requirement)
  const { cluster, held } = await recordMovedKeys(options.cluster, acquired)
  const lease = keepLease(cluster, held)
  const keeper = new InventoryKeeper(lease)
  const restore = async (): Promise<void> => {
    const { inventory, partitions } = lease.checkpoint()
    const confirm = async () => inventory && keeper.require(inventory, partitions)
    await keeper.begin()
    await recover(lease.cluster, lease.checkpoint(), confirm)
    await keeper.settle()
  }
  try {
    const repair = options.repair ? await repairWriterOf(lease) : undefined
    if (repair === undefined) await restore()
    return { lease, keeper, restore, repair }
  } catch (error) {
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

/** Changes documents of state otherwise than by a batch: every loader's copy of the state is filled anew. */
const changeState = async <T>(lease: Lease, change: () => Promise<T>): Promise<T> => {
  if (lease.checkpoint().state !== undefined) await lease.set({ state: undefined })
  return await change()
}

const rewriteUnder = async (lease: Lease, rewrite: Parameters<Writer['rewrite']>[0]): Promise<void> => {
  // The renewal also makes sure that this process still has the lease.
  await lease.renew()
  // The undo records may contain the documents that are being corrected.
  if (lease.checkpoint().undo !== undefined) await lease.set({ undo: undefined })
  const { partitions, end, lift } = lease.checkpoint()
  await rewriteDocuments(lease.cluster, { partitions, stamp: end ? stampOf({ end, lift }) : 0 }, rewrite)
}

const requireRepair = (repair: RepairWriter | undefined): RepairWriter => {
  if (repair === undefined) throw new Failure('defect', 'The store was not locked for a repair.')
  return repair
}
