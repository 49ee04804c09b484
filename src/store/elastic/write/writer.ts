import { Failure } from '#failure/failure.ts'
import type { BatchSize } from '#store/batch.ts'
import { createReports, type Identity, type Store, type Writer } from '#store/port.ts'
import type { StateFile } from '#store/state-port.ts'
import { awaitLimited } from '#time/deadline.ts'
import { tryAgain } from '../client/sender.ts'
import type { ElasticReading } from '../read/open-reading.ts'
import { OutOfDateCopy } from '../read/proved-reads.ts'
import { findTransactions } from '../read/view.ts'
import { getLastDocuments, readPublished, toStamp } from '../schema/checkpoint.ts'
import { requireWritable } from '../schema/create-indices.ts'
import type { Cluster } from '../schema/names.ts'
import { createCommitter, HistoryAhead } from './commit-batch.ts'
import { bringHome, finishBatch } from './finish-batch.ts'
import { InventoryKeeper } from './inventory-keeper.ts'
import { acquireLease, type Lease, requireServed } from './lease.ts'
import { openRepair, type RepairPart } from './repair.ts'
import { rewriteDocuments } from './send-documents.ts'

type WriterOptions = {
  readonly cluster: Cluster
  /** See `Writer.partitions`. */
  readonly partitionDocuments: number
  /** Amount of history that is written ahead of its batch at once. */
  readonly chunk: BatchSize
  readonly openStateFile: () => StateFile
  readonly identity: Identity
  /** Whether the writer is for a repair, which accepts the store as it is. */
  readonly repair: boolean
  readonly onChange: () => void
  readonly onRelease: () => void
}

/**
 * Takes over the store. If the process is killed, the next loader takes it over in the same way. Most of the history of a
 * batch may be written ahead of it (`HistoryAhead`).
 */
async function openWriter(options: WriterOptions): Promise<Writer> {
  const { lease, keeper, file, restore, repair } = await takeStore(options)
  const { cluster } = lease
  const ahead = new HistoryAhead({ cluster, checkpoint: lease.checkpoint, chunk: options.chunk })
  const commit = createCommitter({ lease, keeper, file, ahead, restore })
  const { inTurn, settled } = createTurns(options.onChange)
  /** Settles like `work`, but rejects with the damage of the store if that caused the failure. */
  const named = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw await keeper.reasonFor(error)
    }
  }
  const report = createReports(cluster.onCall)
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
    // The larger a batch, the fewer writes of state documents. History is not buffered but written ahead.
    bounds: { documents: 200_000, bytes: Number.POSITIVE_INFINITY, changes: 25_000, chunk: options.chunk },
    append: history => report('append', () => named(ahead.append(history))),
    commit: end =>
      report('commit', () => named(ahead.commit(end, (batch, stored) => inTurn(() => commit(batch, stored))))),
    accept: () => inTurn(() => keeper.accept()),
    rewrite: rewrite => inTurn(() => rewriteState(lease, rewrite)),
    get unfinished() {
      return repair?.unfinished ?? false
    },
    shut: () => inTurn(() => requireRepair(repair).shut()),
    blockAt: async height => requireRepair(repair).blockAt(height),
    endings: async () => requireRepair(repair).endings(),
    takeBack: height => inTurn(() => requireRepair(repair).takeBack(height)),
    settle: settled => inTurn(() => requireRepair(repair).settle(settled)),
    openState: () => report('state', async () => file),
    transactionsOf: hashes => report('state', () => named(readTransactions(lease, hashes))),
    release: async () => {
      await settled()
      // Whatever fails, this process may take the store over again: a lease that was not released expires.
      try {
        file.close()
      } finally {
        await ahead
          .forget()
          .then(() => lease.release())
          .finally(options.onRelease)
      }
    },
  }
}

/** Reads from copies that show the last documents; if a copy is out of date, the next attempt may reach another copy. */
function readTransactions({ cluster, checkpoint }: Lease, hashes: readonly string[]) {
  return tryAgain(cluster, async () => {
    const last = getLastDocuments(checkpoint())
    try {
      return { done: await findTransactions({ ...cluster, last }, checkpoint(), hashes) }
    } catch (error) {
      if (error instanceof OutOfDateCopy) return { retryReason: error.message }
      throw error
    }
  })
}

/**
 * Takes the lease. Unless for a repair, it publishes or abandons the batch of a dead loader, checks that no data is lost, and
 * brings the loader's file up to the published end.
 */
async function takeStore(options: WriterOptions) {
  const lease = await acquireLease(options.cluster, options.identity, options.repair ? requireServed : undefined)
  const keeper = new InventoryKeeper(lease)
  let file: StateFile | undefined
  const restore = async (opened: StateFile): Promise<void> => {
    await keeper.begin()
    await finishBatch({ lease, file: opened, keeper }, await readPublished(lease.cluster))
    await keeper.settle()
    await bringHome(lease, opened)
  }
  try {
    const opened = options.openStateFile()
    file = opened
    const repair = options.repair ? await openRepair(lease, opened) : undefined
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
function createTurns(onDone: () => void) {
  let last: Promise<void> = Promise.resolve()
  return {
    inTurn: <T>(work: () => Promise<T>): Promise<T> => {
      const done = last.then(work).finally(onDone)
      last = done.then(
        () => {},
        () => {},
      )
      return done
    },
    settled: () => last,
  }
}

async function rewriteState(lease: Lease, rewrite: Parameters<Writer['rewrite']>[0]): Promise<void> {
  // State is changed otherwise than by a batch, so every loader's file is filled anew. The write also makes sure that this
  // process still has the lease.
  await lease.set({ state: undefined })
  const { partitions, end, epoch } = lease.checkpoint()
  await rewriteDocuments(lease.cluster, { partitions, stamp: end ? toStamp({ end, epoch }) : 0 }, rewrite)
}

function requireRepair(repair: RepairPart | undefined): RepairPart {
  if (repair === undefined) throw new Failure('defect', 'The store was not locked for a repair.')
  return repair
}

export function openSoleWriter(
  cluster: Cluster,
  reading: ElasticReading,
  options: Pick<WriterOptions, 'partitionDocuments' | 'chunk' | 'openStateFile'>,
) {
  const { names } = cluster
  let isTaken = false
  let writer: Writer | undefined
  const onRelease = (): void => {
    isTaken = false
    writer = undefined
  }
  const take: Store['takeOver'] = async (identity, { repair = false } = {}) => {
    if (isTaken)
      throw new Failure('conflict', `Another loader of this process is writing to ${names.prefix}.`, {
        retryable: true,
      })
    isTaken = true
    try {
      const served = await requireWritable(cluster, repair)
      const onChange = (): void => {
        reading.expire()
        if (repair) reading.checkAgain()
      }
      writer = await openWriter({ ...options, cluster: served, identity, repair, onChange, onRelease })
      if (repair) reading.beginRepair()
      return writer
    } catch (error) {
      onRelease()
      throw error
    }
  }
  const report = createReports(cluster.onCall)
  return {
    takeOver: (...taking: Parameters<typeof take>) => report('takeOver', () => take(...taking)),
    /** If Elasticsearch is unreachable, the lease expires by itself. Every write may be interrupted anywhere. */
    release: async (): Promise<void> => {
      if (writer !== undefined) await awaitLimited(writer.release(), { ms: 2_000 }).catch(() => undefined)
    },
  }
}
